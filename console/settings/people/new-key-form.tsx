import { useEffect, useRef, useState } from "react";
import { issueOf } from "../../api/problem.ts";
import type { IssuedApiKey } from "../../api/schema.d.ts";
import { hasRole, type Role } from "../../api/session.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Select } from "../../components/select.tsx";
import { Problem } from "../problem.tsx";
import { useChange } from "../use-change.ts";
import { daysOf, EXPIRY_CHOICES, type Expiry } from "./expiry.ts";
import { ROLE_CHOICES } from "./roles.ts";

interface Props {
  readonly onIssued: (key: IssuedApiKey) => void;
  readonly onCancel: () => void;
}

type Access = "read" | "write";
const ACCESS_CHOICES = [
  ["write", "Read and write"],
  ["read", "Read only"],
] as const;

/** Issues a key for this board. Its owner is the person who does it. */
export function NewKeyForm({ onIssued, onCancel }: Props) {
  const { board, keys } = useWorkspace();
  const { text: name, setText: setName, clear } = useDraft(`new-key:${board.workspaceId}`);
  const [role, setRole] = useState<Role>("member");
  const [access, setAccess] = useState<Access>("write");
  const [expiry, setExpiry] = useState<Expiry>("90");
  const { run, isBusy, error } = useChange("POST /console/v1/credentials", keys.people("keys"));
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const issue = async (): Promise<void> => {
    const answered = await run(
      {
        body: {
          name: name.trim(),
          role,
          scopes: access === "read" ? ["read"] : ["read", "write"],
          expiresInDays: daysOf(expiry),
        },
      },
      `The key ${name.trim()} is issued. It is shown once.`,
    );
    if (!answered) return;
    clear();
    onIssued(answered.data);
  };
  return (
    <form
      className="settings-form settings-new key-form"
      aria-labelledby="new-key"
      onSubmit={(event) => {
        event.preventDefault();
        void issue();
      }}
    >
      <h2 id="new-key">New key</h2>
      <div className="settings-fields">
        <Field
          ref={first}
          label="Name"
          hint="The author of what it writes, such as deploy-bot"
          value={name}
          required
          maxLength={100}
          autoComplete="off"
          dir="auto"
          error={issueOf(error, "name")}
          onChange={(event) => setName(event.target.value)}
        />
        <Select
          label="Role on this board"
          value={role}
          choices={ROLE_CHOICES.filter(([each]) => hasRole(board.role, each))}
          onChoose={setRole}
        />
        <Select label="Access" value={access} choices={ACCESS_CHOICES} onChoose={setAccess} />
        <Select label="Expires" value={expiry} choices={EXPIRY_CHOICES} onChoose={setExpiry} />
      </div>
      <p className="settings-faint">
        You own the key: it never has a higher role than you, and stops when you leave the board.
      </p>
      {issueOf(error, "name") === undefined && <Problem error={error} />}
      <div className="form-actions">
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Issue the key
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
