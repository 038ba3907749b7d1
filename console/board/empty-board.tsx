import { Link } from "wouter";
import { EmptyState } from "../components/states.tsx";
import { NoRepository, useRepositoriesOf } from "../shell/no-repository.tsx";
import { useAddress } from "../shell/use-project.ts";

interface Props {
  readonly projectId: string;
  /** The name of the stage that new cards of the board enter. */
  readonly stage: string;
}

/** On a board without a project. */
export function NoProject() {
  const addressOf = useAddress();
  return (
    <EmptyState title="This board has no project yet">
      <p>
        A project has a flow of stages and its repositories. A maintainer creates it in{" "}
        <Link href={addressOf("/settings/projects")}>Settings, Projects</Link>.
      </p>
    </EmptyState>
  );
}

/** The first steps: what is missing until a card can be moved. */
export function EmptyBoard({ projectId, stage }: Props) {
  const addressOf = useAddress();
  const isLacking = useRepositoriesOf(projectId)?.length === 0;
  return (
    <EmptyState title="No cards yet">
      <ol className="first-steps">
        {isLacking && (
          <li>
            <NoRepository />
          </li>
        )}
        <li>
          New card creates a card in <bdi>{stage}</bdi>. Cards for later are created in the{" "}
          <Link href={addressOf("/backlog")}>backlog</Link>.
        </li>
        <li>Move the card to another stage. The line below a stage&apos;s name says what happens in Git.</li>
      </ol>
    </EmptyState>
  );
}
