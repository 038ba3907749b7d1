import type { ReactNode } from "react";
import type { Repository } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { ExternalLink } from "../../card/git/external-link.tsx";
import { Badge } from "../../components/badge.tsx";
import { Ago } from "../../text/time.tsx";

type Broken = NonNullable<Repository["health"]["broken"]>;

/** Why Trunkline cannot work with a repository, and what to do about it. */
const FIXES: Readonly<Record<Broken, string>> = {
  uninstalled: "The App is not installed on this account. Install it again on GitHub.",
  suspended:
    "The App is suspended on this account. An owner of the account can lift the suspension on GitHub.",
  refused: "GitHub refuses the App access to this account. Check the App's installation on GitHub.",
  not_granted:
    "The App has no access to this repository, or the repository is deleted. Grant access on GitHub, or unlink it here.",
  archived:
    "The repository is archived on GitHub, so it is read-only. Unarchive it there, or unlink it here.",
  other_project: "The repository does not belong to the project of its cards any more. Link it again.",
};

/** The same for a repository that no project has, where it differs. */
const FIXES_BEFORE_LINK: Partial<typeof FIXES> = {
  archived:
    "The repository is archived on GitHub, so it is read-only. Unarchive it there before you link it.",
};

const DELAYS = {
  rate_limit:
    "GitHub's rate limit is reached. Trunkline continues by itself when GitHub accepts calls again.",
  unusable_response: "GitHub's last response was not usable. Trunkline tries again by itself.",
  outage: "GitHub did not respond recently. Trunkline tries again by itself.",
} as const;

interface Props {
  readonly repository: Repository;
  /** Whether a project has it. Otherwise only what is wrong is shown. */
  readonly isLinked: boolean;
}

/** The connection of a repository to GitHub, and how to repair it. */
export function Health({ repository: { fullName, connected, health }, isLinked }: Props) {
  const { broken, missingPermissions, unavailable } = health;
  if (broken !== null || !connected) {
    const fix = FIXES[broken ?? "not_granted"];
    return (
      <Trouble tone="danger" title="Connection broken" fullName={fullName}>
        {isLinked
          ? `${fix} Moves of its cards are refused until then.`
          : (FIXES_BEFORE_LINK[broken ?? "not_granted"] ?? fix)}
      </Trouble>
    );
  }
  return (
    <>
      {missingPermissions.length > 0 && (
        <Trouble tone="warning" title="Permissions missing" fullName={fullName}>
          The account has not granted {missingPermissions.join(", ")}. An owner of the account accepts the
          App&apos;s new permissions in its installation on GitHub. Until then, moves that need them are
          refused.
        </Trouble>
      )}
      {unavailable && (
        <p className="repository-trouble">
          <Badge tone="warning">GitHub does not respond</Badge> {DELAYS[unavailable.reason]}
        </p>
      )}
      {isLinked ? <Connected health={health} /> : <Badge>available</Badge>}
    </>
  );
}

const Connected = ({
  health: { lastWebhookAt, lastReconciledAt },
}: {
  readonly health: Repository["health"];
}) => (
  <p className="settings-faint">
    <Badge tone="success">connected</Badge>{" "}
    {lastWebhookAt === null ? (
      "No webhook has arrived yet."
    ) : (
      <>
        The last webhook arrived <Ago at={lastWebhookAt} />.
      </>
    )}{" "}
    {lastReconciledAt === null ? (
      "Not compared with GitHub yet."
    ) : (
      <>
        Last compared with GitHub <Ago at={lastReconciledAt} />.
      </>
    )}
  </p>
);

interface TroubleProps {
  readonly tone: "danger" | "warning";
  readonly title: string;
  readonly fullName: string;
  readonly children: ReactNode;
}

function Trouble({ tone, title, fullName, children }: TroubleProps) {
  const { session } = useWorkspace();
  const [owner = ""] = fullName.split("/");
  const address = `${session.forgeUrl}/organizations/${encodeURIComponent(owner)}/settings/installations`;
  return (
    <div className="repository-trouble" data-tone={tone}>
      <Badge tone={tone}>{title}</Badge>
      <p>{children}</p>
      <ExternalLink href={address}>Installations of {owner} on GitHub</ExternalLink>
    </div>
  );
}
