import { useIsFetching, useQueryClient } from "@tanstack/react-query";
import type { Ref } from "react";
import { useRead } from "../../api/reads.ts";
import type { CardSnapshot } from "../../api/reads.ts";
import type { CardRepository, ChecksEntry, ReviewsEntry, TimelineItem } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { NoRepository, useRepositoriesOf } from "../../shell/no-repository.tsx";
import { Checkout } from "./checkout.tsx";
import { Checks } from "./checks.tsx";
import { ExternalLink, gitHubPages, shortSha } from "./external-link.tsx";
import type { LiveRead } from "./live-read.ts";
import { Reviews } from "./reviews.tsx";
import "./repositories.css";

interface Props {
  readonly card: CardSnapshot;
  readonly timeline: readonly TimelineItem[];
  /** The link to the first open pull request. */
  readonly pullRef: Ref<HTMLAnchorElement>;
}

/** Branches and pull requests of the card, with their present state on GitHub. */
export function Repositories({ card, timeline, pullRef }: Props) {
  const { keys } = useWorkspace();
  const hasOpen = card.repositories.some(isOpen);
  const path = { number: card.number };
  const checks = useRead(
    keys.cardPart(card.number, "checks"),
    "GET /v1/cards/{number}/checks",
    { path },
    { enabled: hasOpen },
  );
  const reviews = useRead(
    keys.cardPart(card.number, "reviews"),
    "GET /v1/cards/{number}/reviews",
    { path },
    { enabled: hasOpen },
  );
  const first = card.repositories.find(({ prNumber }) => prNumber !== null);
  return (
    <section className="card-git" aria-labelledby="repositories">
      <div className="section-head">
        <h2 id="repositories">Branches and pull requests</h2>
        {hasOpen && <Refresh number={card.number} />}
      </div>
      {card.repositories.length === 0 ? (
        <p className="card-no-text">
          <Unlinked projectId={card.projectId} />
        </p>
      ) : (
        <ul className="card-repositories">
          {card.repositories.map((repository) => (
            <Repository
              key={repository.fullName}
              repository={repository}
              head={headOf(timeline, repository)}
              checks={checks}
              reviews={reviews}
              pullRef={repository === first ? pullRef : undefined}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Why moves of a card without a repository change nothing on GitHub, and what to do. */
function Unlinked({ projectId }: { readonly projectId: string }) {
  const offered = useRepositoriesOf(projectId);
  if (offered?.length === 0) return <NoRepository />;
  return "No repository is linked to this card, so its moves change nothing on GitHub. Link one in the card's properties.";
}

/** Reads checks, reviews and the plan from GitHub again. */
function Refresh({ number }: { readonly number: number }) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const parts = (["checks", "reviews", "move-plan"] as const).map((part) => keys.cardPart(number, part));
  const isBusy =
    useIsFetching({
      predicate: ({ queryKey }) => parts.some((key) => key.every((part, index) => queryKey[index] === part)),
    }) > 0;
  return (
    <Button
      kind="quiet"
      isBusy={isBusy}
      onClick={() => parts.forEach((queryKey) => void queries.invalidateQueries({ queryKey }))}
    >
      <Icon name="refresh" />
      {isBusy ? "Reading from GitHub…" : "Refresh"}
    </Button>
  );
}

interface RepositoryProps {
  readonly repository: CardRepository;
  readonly head: string | null;
  readonly checks: LiveRead<ChecksEntry>;
  readonly reviews: LiveRead<ReviewsEntry>;
  readonly pullRef: Ref<HTMLAnchorElement> | undefined;
}

function Repository({ repository, head, checks, reviews, pullRef }: RepositoryProps) {
  const { session } = useWorkspace();
  const { fullName, branchName, prNumber, prState, checksState } = repository;
  const pages = gitHubPages(session.forgeUrl, fullName);
  return (
    <li>
      <div className="repository-head">
        <h3 className="mono">{fullName}</h3>
        {prNumber !== null && prState !== null && (
          <>
            <ExternalLink
              href={pages.pull(prNumber)}
              className="repository-pull"
              {...(pullRef && { linkRef: pullRef })}
            >
              <Icon name={prState === "merged" ? "merge" : "pull"} /> Pull request #{prNumber}
            </ExternalLink>
            <Badge tone={PULL_TONES[prState]}>{prState}</Badge>
          </>
        )}
        {checksState !== null && <Badge tone={CHECK_TONES[checksState]}>checks {checksState}</Badge>}
      </div>
      <p className="repository-branch">
        {branchName === null ? (
          "No branch yet. A move into a stage that works with Git creates it."
        ) : (
          <>
            <Icon name="branch" />
            <ExternalLink href={pages.branch(branchName)} className="mono">
              {branchName}
            </ExternalLink>
            <CopyButton kind="quiet" text={branchName} label="Copy" of={`the branch name ${branchName}`} />
          </>
        )}
        {branchName !== null && head !== null && (
          <span>
            at{" "}
            <ExternalLink href={pages.commit(head)} className="mono">
              {shortSha(head)}
            </ExternalLink>
          </span>
        )}
      </p>
      {branchName !== null && prState !== "merged" && (
        <Checkout fullName={fullName} branchName={branchName} />
      )}
      {isOpen(repository) && (
        <>
          <Checks read={checks} repository={fullName} />
          <Reviews read={reviews} repository={fullName} />
        </>
      )}
    </li>
  );
}

const isOpen = ({ prState }: CardRepository): boolean => prState === "draft" || prState === "open";

/** The newest commit of the branch that the timeline names. */
function headOf(timeline: readonly TimelineItem[], { fullName, branchName }: CardRepository): string | null {
  const shas = timeline.flatMap((item) => {
    if (item.type === "comment" || item.repositoryFullName !== fullName) return [];
    if (item.kind === "pushed" && item.data.branchName === branchName) return [item.data.after];
    const isStart = item.kind === "branch_created" || item.kind === "branch_adopted";
    return isStart && item.data.branchName === branchName ? [item.data.sha] : [];
  });
  return shas.at(-1) ?? null;
}

const PULL_TONES = { draft: "neutral", open: "accent", merged: "inverse", closed: "danger" } as const;
const CHECK_TONES = { passing: "success", failing: "danger", pending: "warning" } as const;
