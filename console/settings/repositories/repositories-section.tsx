import { useState } from "react";
import { useFlow, useRepositories } from "../../api/reads.ts";
import type { Project, Repository } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { EmptyState, ErrorState, Loading } from "../../components/states.tsx";
import { useProject } from "../../shell/use-project.ts";
import { Problem } from "../problem.tsx";
import type { MissingBranch } from "../flow/describe-changes.ts";
import { targetsOf } from "../flow/draft.ts";
import { SectionHead } from "../section-head.tsx";
import { Health } from "./health.tsx";
import { MissingBranches } from "./missing-branches.tsx";
import { Name, Others, type RowProps } from "./others.tsx";
import "./repositories.css";
import { useMissingBranches } from "./use-missing-branches.ts";
import { useSetRepositories } from "./use-set-repositories.ts";

/** The repositories of the project that is chosen in the top bar, and those that it can get. */
export default function RepositoriesSection() {
  const { project, error, isLoading } = useProject();
  if (error) return <ErrorState error={error} />;
  if (isLoading) return <Loading what="the repositories" />;
  return project ? (
    <OfProject key={project.id} project={project} />
  ) : (
    <EmptyState title="This board has no project yet" />
  );
}

function OfProject({ project }: { readonly project: Project }) {
  const { board } = useWorkspace();
  const { data: repositories, error, refetch } = useRepositories();
  const { data: flow } = useFlow(project.id);
  const missing = useMissingBranches(project.id, flow ? targetsOf(flow) : []);
  const change = useSetRepositories(project.id);
  const mayEdit = hasRole(board.role, "maintainer");
  if (!repositories)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the repositories" />
    );
  const linked = repositories.filter(({ projectId }) => projectId === project.id);
  const others = repositories.filter(({ projectId }) => projectId !== project.id);
  const defaults = linked.filter(({ linkByDefault }) => linkByDefault);
  const row = { change, mayEdit, project };
  return (
    <>
      <SectionHead
        title="Repositories"
        about={
          <>
            Cards of <bdi>{project.name}</bdi> work in these repositories. New cards are linked to the default
            ones.
          </>
        }
      />
      <Problem error={change.error} />
      <section className="settings-part" aria-labelledby="linked">
        <h2 id="linked">In this project</h2>
        {linked.length === 0 ? (
          <p className="settings-faint">
            None yet. Without a repository, moving a card changes nothing on GitHub.
          </p>
        ) : (
          <ul className="settings-rows">
            {linked.map((repository) => (
              <Linked
                key={repository.id}
                repository={repository}
                isLastDefault={defaults.length === 1 && defaults[0] === repository}
                missing={missing.filter(({ repositoryId }) => repositoryId === repository.id)}
                {...row}
              />
            ))}
          </ul>
        )}
        {linked.length > 0 && defaults.length === 0 && (
          <p className="settings-caution" role="status">
            No repository is a default one, so new cards are linked to none. Moves of a card without a
            repository change nothing on GitHub.
          </p>
        )}
      </section>
      <section className="settings-part" aria-labelledby="others">
        <h2 id="others">Other repositories of the installation</h2>
        <Others repositories={others} {...row} />
      </section>
      {!mayEdit && (
        <p className="settings-note">Maintainers of the board can link and unlink repositories.</p>
      )}
    </>
  );
}

interface LinkedProps extends RowProps {
  readonly repository: Repository;
  /** Whether no other repository of the project is a default one. */
  readonly isLastDefault: boolean;
  readonly missing: readonly MissingBranch[];
}

function Linked({ repository, isLastDefault, missing, change, mayEdit }: LinkedProps) {
  const { id, fullName, defaultBranch, linkByDefault } = repository;
  const setDefault = (isDefault: boolean): void =>
    void change.set(
      (linked) => linked.map((each) => (each.id === id ? { id, linkByDefault: isDefault } : each)),
      isDefault ? `${fullName} is a default repository` : `${fullName} is not a default repository any more`,
    );
  const action = linkByDefault ? "Stop using for new cards" : "Use for new cards";
  return (
    <li className="settings-row">
      <div className="settings-row-text">
        <p>
          <Name fullName={fullName} /> {linkByDefault && <Badge tone="accent">default for new cards</Badge>}
        </p>
        <p className="settings-faint">
          Default branch <span className="mono">{defaultBranch}</span>
        </p>
        <Health repository={repository} isLinked />
        <MissingBranches repository={repository} branchNames={missing.map(({ branchName }) => branchName)} />
      </div>
      {mayEdit && (
        <div className="settings-row-actions">
          <Button
            kind="quiet"
            isBusy={change.isBusy}
            aria-label={`${action}: ${fullName}`}
            title={`New cards are ${linkByDefault ? "no longer " : ""}linked to it`}
            onClick={() => setDefault(!linkByDefault)}
          >
            {action}
          </Button>
          <Unlink repository={repository} isLastDefault={isLastDefault} change={change} />
        </div>
      )}
    </li>
  );
}

function Unlink({ repository, isLastDefault, change }: Omit<LinkedProps, "mayEdit" | "project" | "missing">) {
  const { id, fullName } = repository;
  const [isAsking, setIsAsking] = useState(false);
  const close = (): void => {
    change.reset();
    setIsAsking(false);
  };
  const unlink = async (): Promise<void> => {
    const isDone = await change.set(
      (linked) => linked.filter((each) => each.id !== id),
      `${fullName} unlinked`,
    );
    if (isDone) close();
  };
  return (
    <>
      <Button kind="quiet" aria-label={`Unlink ${fullName}`} onClick={() => setIsAsking(true)}>
        Unlink
      </Button>
      <Confirm
        open={isAsking}
        title={`Unlink ${fullName}?`}
        action="Unlink the repository"
        isBusy={change.isBusy}
        error={isAsking ? change.error : null}
        onCancel={close}
        onConfirm={() => void unlink()}
      >
        <p>
          Cards are unlinked from it, except those whose work was merged there. Branches on GitHub stay as
          they are.
        </p>
        {isLastDefault && (
          <p className="settings-caution">
            It is the only default repository. New cards will be linked to no repository until another one is
            a default.
          </p>
        )}
      </Confirm>
    </>
  );
}
