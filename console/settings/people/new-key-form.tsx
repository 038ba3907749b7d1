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
import { useAgents } from "./agent-keys.ts";
import { daysOf, EXPIRY_CHOICES, type Expiry } from "./expiry.ts";
import { allowsOf, ROLE_CHOICES } from "./roles.ts";

interface Props {
  /** Of the agent that is chosen first; null for none. */
  readonly agentLogin: string | null;
  readonly onIssued: (key: IssuedApiKey) => void;
  readonly onCancel: () => void;
}

type Access = "read" | "write";
const ACCESS_CHOICES = [
  ["write", "Read and write"],
  ["read", "Read only"],
] as const;

interface Order {
  /** Of the agent that the key is for; empty for none. */
  readonly login: string;
  readonly role: Role;
  readonly access: Access;
  readonly expiry: Expiry;
}

/** What the form holds, and the write that issues the key. */
function useNewKey({ agentLogin, onIssued }: Pick<Props, "agentLogin" | "onIssued">) {
  const { board, keys } = useWorkspace();
  const { text: typed, setText: setTyped, clear } = useDraft(`new-key:${board.workspaceId}`);
  const [order, setOrder] = useState<Order>({
    login: agentLogin ?? "",
    role: "member",
    access: "write",
    expiry: "90",
  });
  const { data: agents = [] } = useAgents();
  const agent = agents.find(({ login }) => login === order.login);
  const { run, isBusy, error } = useChange("POST /console/v1/credentials", keys.people("keys"));
  const issue = async (): Promise<void> => {
    const name = agent?.login ?? typed.trim();
    const scopes = order.access === "read" ? (["read"] as const) : (["read", "write"] as const);
    const body = { name, role: order.role, scopes, expiresInDays: daysOf(order.expiry) };
    const received = await run({ body }, null);
    if (!received) return;
    clear();
    onIssued(received.data);
  };
  const choose = (choice: Partial<Order>): void => setOrder({ ...order, ...choice });
  return { typed, setTyped, order, choose, agents, agent, issue, isBusy, error };
}

/** Issues a key for this board. Its owner is the person who does it. */
export function NewKeyForm({ onCancel, ...props }: Props) {
  const { board } = useWorkspace();
  const { typed, setTyped, order, choose, agents, agent, issue, isBusy, error } = useNewKey(props);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
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
          hint={agent ? "The login of the agent" : "The author of what it writes, such as deploy-bot"}
          value={agent?.login ?? typed}
          readOnly={agent !== undefined}
          required
          maxLength={100}
          autoComplete="off"
          dir="auto"
          error={issueOf(error, "name")}
          onChange={(event) => setTyped(event.target.value)}
        />
        {agents.length > 0 && (
          <Select
            label="Agent"
            value={order.login}
            choices={[["", "None"], ...agents.map((each) => [each.login, each.login] as const)]}
            onChoose={(login) => choose({ login })}
          />
        )}
        <Select
          label="Role on this board"
          value={order.role}
          hint={allowsOf(order.role)}
          choices={ROLE_CHOICES.filter(([each]) => hasRole(board.role, each))}
          onChoose={(role) => choose({ role })}
        />
        <Select
          label="Access"
          value={order.access}
          choices={ACCESS_CHOICES}
          onChoose={(access) => choose({ access })}
        />
        <Select
          label="Expires"
          value={order.expiry}
          choices={EXPIRY_CHOICES}
          onChoose={(expiry) => choose({ expiry })}
        />
      </div>
      <p className="settings-faint">
        The key reaches all projects of this board; only its role and access limit what it may do. You own it:
        it never has a higher role than you, and stops when you leave the board.
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
