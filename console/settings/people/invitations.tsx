import { useRead } from "../../api/reads.ts";
import type { Invitation } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { ErrorState } from "../../components/states.tsx";
import { Ago } from "../../text/time.tsx";
import { Problem } from "../problem.tsx";
import { useChange } from "../use-change.ts";
import { useInvitationLink } from "./invite-form.tsx";
import { LIST_OPTIONS } from "./list-options.ts";

/** The invitations that nobody has accepted yet. */
export function Invitations() {
  const { keys } = useWorkspace();
  const { data, error, refetch } = useRead(
    keys.people("invitations"),
    "GET /console/v1/invitations",
    {},
    LIST_OPTIONS,
  );
  if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null;
  if (data.length === 0) return null;
  return (
    <section className="settings-part" aria-labelledby="invitations">
      <h2 id="invitations">Invited</h2>
      <ul className="settings-rows">
        {data.map((invitation) => (
          <Row key={invitation.id} invitation={invitation} />
        ))}
      </ul>
    </section>
  );
}

function Row({ invitation }: { readonly invitation: Invitation }) {
  const { keys } = useWorkspace();
  const { id, login, avatarUrl, role, invitedBy, createdAt } = invitation;
  const link = useInvitationLink();
  const { run, isBusy, error } = useChange("DELETE /console/v1/invitations/{id}", keys.people("invitations"));
  return (
    <li className="settings-row">
      <div className="settings-row-text">
        <span className="person-name">
          <Avatar name={login} avatarUrl={avatarUrl} isDecorative />
          <bdi>{login}</bdi>
        </span>
        <p className="settings-faint">
          As {role}, by <bdi>{invitedBy ?? "somebody"}</bdi> <Ago at={createdAt} />
        </p>
        <Problem error={error} />
      </div>
      <div className="settings-row-actions">
        <CopyButton kind="quiet" text={link} label="Copy link" of={`for ${login}`} />
        <Button
          kind="quiet"
          isBusy={isBusy}
          aria-label={`Revoke the invitation of ${login}`}
          onClick={() => void run({ path: { id } }, `The invitation of ${login} is revoked`)}
        >
          Revoke
        </Button>
      </div>
    </li>
  );
}
