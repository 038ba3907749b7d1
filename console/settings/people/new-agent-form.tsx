import { useState } from "react";
import { issueOf } from "../../api/problem.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Select } from "../../components/select.tsx";
import { Problem } from "../problem.tsx";
import { useChange } from "../use-change.ts";
import { LoginField, loginIn } from "./login-field.tsx";
import { useOwners } from "./use-owners.ts";

/** Registers a GitHub account as an agent of this board. */
export function NewAgentForm() {
  const { board, session, keys } = useWorkspace();
  const { text: login, setText: setLogin, clear } = useDraft(`new-agent:${board.workspaceId}`);
  const [ownerId, setOwnerId] = useState(session.user.id);
  const owners = useOwners();
  const { run, isBusy, error } = useChange("POST /console/v1/agents", keys.people("agents"));
  const register = async (): Promise<void> => {
    const name = loginIn(login);
    if (name === "") return;
    const body = { login: name, ownerId: ownerId === "" ? null : ownerId };
    if (await run({ body }, `${name} is registered as an agent`)) clear();
  };
  return (
    <section className="settings-part">
      <form
        className="settings-form"
        aria-labelledby="new-agent"
        onSubmit={(event) => {
          event.preventDefault();
          void register();
        }}
      >
        <h2 id="new-agent">Register an agent</h2>
        <div className="settings-fields">
          <LoginField
            label="GitHub login of the agent"
            hint="A bot as well as a separate account, on this board only"
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
    </section>
  );
}
