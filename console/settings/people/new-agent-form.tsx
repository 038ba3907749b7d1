import { useState } from "react";
import { issueOf } from "../../api/problem.ts";
import { useRead } from "../../api/reads.ts";
import type { Agent, Person } from "../../api/schema.d.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { Select } from "../../components/select.tsx";
import { Problem } from "../problem.tsx";
import { useChange } from "../use-change.ts";
import { useAgents } from "./agent-keys.ts";
import { IssueKey } from "./agent-row.tsx";
import { LIST_OPTIONS } from "./list-options.ts";
import { LoginField, loginIn } from "./login-field.tsx";
import { useOwners } from "./use-owners.ts";

/** Registers a GitHub account as an agent of this board, then offers to issue its key. */
export function NewAgentForm() {
  const { board, session, keys } = useWorkspace();
  const { text: login, setText: setLogin, clear } = useDraft(`new-agent:${board.workspaceId}`);
  const [ownerId, setOwnerId] = useState(session.user.id);
  const [registered, setRegistered] = useState<Agent | null>(null);
  const owners = useOwners();
  const { run, isBusy, error } = useChange("POST /console/v1/agents", keys.people("agents"));
  const member = useMember(loginIn(login));
  const [isAsking, setIsAsking] = useState(false);
  const register = async (): Promise<void> => {
    setIsAsking(false);
    const name = loginIn(login);
    if (name === "") return;
    const body = { login: name, ownerId: ownerId === "" ? null : ownerId };
    const received = await run({ body }, `${name} is registered as an agent`);
    if (!received) return;
    clear();
    setRegistered(received.data);
  };
  return (
    <section className="settings-part">
      <form
        className="settings-form"
        aria-labelledby="new-agent"
        onSubmit={(event) => {
          event.preventDefault();
          if (member) setIsAsking(true);
          else void register();
        }}
      >
        <h2 id="new-agent">Register an agent</h2>
        <div className="settings-fields">
          <LoginField
            label="GitHub login of the agent"
            hint={`A bot, whose login ends in [bot], or a separate user account. It is registered for this board only.${
              session.isSandbox ? " The sandbox has copilot-swe-agent[bot]." : ""
            }`}
            placeholder="copilot-swe-agent[bot]"
            value={login}
            error={error}
            onChange={setLogin}
          />
          <Select
            label="Owner"
            value={ownerId}
            choices={[["", "Nobody"], ...owners.map(({ id, login: text }) => [id, text] as const)]}
            onChoose={setOwnerId}
          />
        </div>
        {issueOf(error, "login") === undefined && <Problem error={error} />}
        <div className="form-actions">
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Register
          </Button>
        </div>
      </form>
      <Confirm
        open={isAsking}
        title={`Register ${member?.login ?? ""} as an agent?`}
        action="Register as an agent"
        isBusy={isBusy}
        error={null}
        onConfirm={() => void register()}
        onCancel={() => setIsAsking(false)}
      >
        <p>
          <bdi>{member?.login}</bdi> is a member of this board, and is signed out. An agent cannot sign in
          here until it is removed from the agents.
        </p>
      </Confirm>
      {registered && <Registered agent={registered} />}
    </section>
  );
}

/** The member of the board with this login who can sign in. */
function useMember(login: string): Person | undefined {
  const { keys } = useWorkspace();
  const { data = [] } = useRead(keys.people("members"), "GET /console/v1/people", {}, LIST_OPTIONS);
  return data.find((each) => each.kind !== "agent" && each.login.toLowerCase() === login.toLowerCase());
}

/** The next step for a new agent, until it is removed. */
function Registered({ agent: { id, login } }: { readonly agent: Agent }) {
  const { data = [] } = useAgents();
  if (!data.some((agent) => agent.id === id)) return null;
  return (
    <div className="person-invited">
      <p>
        <strong>
          <bdi>{login}</bdi> is registered.
        </strong>{" "}
        It needs an API key to work on cards.
      </p>
      <IssueKey login={login} />
    </div>
  );
}
