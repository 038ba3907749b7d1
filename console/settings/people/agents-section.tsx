import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { EmptyState } from "../../components/states.tsx";
import { SectionHead } from "../section-head.tsx";
import { useAgents } from "./agent-keys.ts";
import { AgentRow } from "./agent-row.tsx";
import { NewAgentForm } from "./new-agent-form.tsx";
import { Waiting } from "./waiting.tsx";
import "./people.css";

const ABOUT =
  "An agent is a GitHub account that works on cards. Register it here with its owner, then issue a key for it: the keys of an agent have its login as their name. Where a stage needs a second person, the commits of an agent count as those of its owner.";

/** The agents of the board and their owners. */
export default function AgentsSection() {
  const { board } = useWorkspace();
  if (!hasRole(board.role, "maintainer"))
    return (
      <>
        <SectionHead title="Agents" about={ABOUT} />
        <EmptyState title="Agents are shown to maintainers only">
          Your role is {board.role}. Maintainers register agents and set their owners.
        </EmptyState>
      </>
    );
  return (
    <>
      <SectionHead title="Agents" about={ABOUT} />
      <NewAgentForm />
      <Agents />
    </>
  );
}

function Agents() {
  const { data, error, refetch } = useAgents();
  return (
    <section className="settings-part" aria-labelledby="agents">
      <h2 id="agents">On this board</h2>
      {!data && <Waiting what="the agents" error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && (
        <p className="settings-faint">
          No agent has worked on a card yet. Well-known ones appear with their first pull request.
        </p>
      )}
      {data && data.length > 0 && (
        <ul className="settings-rows">
          {data.map((agent) => (
            <AgentRow key={agent.id} agent={agent} />
          ))}
        </ul>
      )}
    </section>
  );
}
