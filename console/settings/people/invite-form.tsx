import { useEffect, useRef, useState } from "react";
import { issueOf } from "../../api/problem.ts";
import type { Invitation } from "../../api/schema.d.ts";
import type { Role } from "../../api/session.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { Select } from "../../components/select.tsx";
import { Problem } from "../problem.tsx";
import { useChange } from "../use-change.ts";
import { LoginField, loginIn } from "./login-field.tsx";
import { allowsOf, ROLE_CHOICES } from "./roles.ts";

/** Invites a GitHub account, then shows the link to send to that person. */
export function InviteForm() {
  const { board, keys } = useWorkspace();
  const { text: login, setText: setLogin, clear } = useDraft(`invite:${board.workspaceId}`);
  const [role, setRole] = useState<Role>("member");
  const [invited, setInvited] = useState<Invitation | null>(null);
  const { run, isBusy, error } = useChange("POST /console/v1/invitations", keys.people("invitations"));
  const wanted = loginIn(login);
  const send = async (): Promise<void> => {
    if (wanted === "") return;
    const received = await run({ body: { login: wanted, role } }, `${wanted} is invited`);
    if (!received) return;
    clear();
    setInvited(received.data);
  };
  return (
    <section className="settings-part">
      <form
        className="settings-form"
        aria-labelledby="invite"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <h2 id="invite">Invite somebody</h2>
        <div className="settings-fields">
          <LoginField label="GitHub login" value={login} error={error} onChange={setLogin} />
          <Select label="Role" hint={allowsOf(role)} value={role} choices={ROLE_CHOICES} onChoose={setRole} />
        </div>
        {issueOf(error, "login") === undefined && <Problem error={error} />}
        <div className="form-actions">
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Invite
          </Button>
        </div>
      </form>
      {invited && <Invited key={invited.id} invitation={invited} />}
    </section>
  );
}

function Invited({ invitation: { login, role } }: { readonly invitation: Invitation }) {
  const link = useInvitationLink();
  const text = useRef<HTMLParagraphElement>(null);
  useEffect(() => text.current?.focus(), []);
  return (
    <div className="person-invited">
      <p tabIndex={-1} ref={text}>
        <strong>
          <bdi>{login}</bdi> is invited as {role}.
        </strong>{" "}
        Trunkline sends no mail: send this link. The account joins when it signs in.
      </p>
      <p className="mono person-link">{link}</p>
      <CopyButton text={link} label="Copy the link" />
    </div>
  );
}

/** Signs in, even if the browser has a session, and opens the board. It is the same for everybody and no secret. */
export function useInvitationLink(): string {
  const { board } = useWorkspace();
  const returnTo = encodeURIComponent(`/b/${board.workspaceId}`);
  return `${window.location.origin}/console/sign-in?returnTo=${returnTo}`;
}
