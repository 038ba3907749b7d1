import { useState } from "react";
import { Link } from "wouter";
import { useProjects, useRepositories } from "../../api/reads.ts";
import type { Project, Repository } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { ExternalLink, gitHubPages } from "../../card/git/external-link.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { EmptyState, ErrorState, Loading } from "../../components/states.tsx";
import { useProject } from "../../shell/use-project.ts";
import { Problem } from "../problem.tsx";
import { SectionHead } from "../section-head.tsx";
import { Health } from "./health.tsx";
import "./repositories.css";
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

interface RowProps {
  readonly project: Project;
  readonly change: ReturnType<typeof useSetRepositories>;
  readonly mayEdit: boolean;
}

const Name = ({ fullName }: Pick<Repository, "fullName">) => {
  const { session } = useWorkspace();
  return (
    <ExternalLink href={gitHubPages(session.forgeUrl, fullName).repository} className="mono">
      {fullName}
    </ExternalLink>
  );
};

interface LinkedProps extends RowProps {
  readonly repository: Repository;
  /** Whether no other repository of the project is a default one. */
  readonly isLastDefault: boolean;
}

function Linked({ repository, isLastDefault, change, mayEdit }: LinkedProps) {
  const { id, fullName, defaultBranch, linkByDefault } = repository;
  const setDefault = (isDefault: boolean): void =>
    void change.set(
      (linked) => linked.map((each) => (each.id === id ? { id, linkByDefault: isDefault } : each)),
      isDefault ? `${fullName} is a default repository` : `${fullName} is not a default repository any more`,
    );
  return (
    <li className="settings-row">
      <div className="settings-row-text">
        <p>
          <Name fullName={fullName} /> {linkByDefault && <Badge tone="accent">default</Badge>}
        </p>
        <p className="settings-faint">
          Default branch <span className="mono">{defaultBranch}</span>
        </p>
        <Health repository={repository} />
      </div>
      {mayEdit && (
        <div className="settings-row-actions">
          <Button
            kind="quiet"
            isBusy={change.isBusy}
            aria-label={`${linkByDefault ? "Remove as default" : "Make default"}: ${fullName}`}
            title={`New cards are ${linkByDefault ? "no longer " : ""}linked to it`}
            onClick={() => setDefault(!linkByDefault)}
          >
            {linkByDefault ? "Remove as default" : "Make default"}
          </Button>
          <Unlink repository={repository} isLastDefault={isLastDefault} change={change} />
        </div>
      )}
    </li>
  );
}

function Unlink({ repository, isLastDefault, change }: Omit<LinkedProps, "mayEdit" | "project">) {
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

function Others({
  repositories,
  change,
  mayEdit,
}: RowProps & { readonly repositories: readonly Repository[] }) {
  const { base } = useWorkspace();
  const { data: projects = [] } = useProjects();
  if (repositories.length === 0)
    return (
      <p className="settings-faint">
        None. A repository appears here when the App&apos;s installation on GitHub grants access to it.
      </p>
    );
  return (
    <ul className="settings-rows">
      {repositories.map((repository) => {
        const { id, fullName, projectId } = repository;
        const holder = projects.find((each) => each.id === projectId);
        return (
          <li key={id} className="settings-row">
            <div className="settings-row-text">
              <p>
                <Name fullName={fullName} />
              </p>
              {holder ? (
                <p className="settings-faint">
                  In the project{" "}
                  <Link href={`${base}/settings/repositories?project=${encodeURIComponent(holder.slug)}`}>
                    <bdi>{holder.name}</bdi>
                  </Link>
                  {mayEdit
                    ? ". A repository belongs to one project. To use it here, merge or close the open pull requests of its cards, unlink it there, then link it here."
                    : "."}
                </p>
              ) : (
                <Health repository={repository} />
              )}
            </div>
            {mayEdit && projectId === null && (
              <Button
                isBusy={change.isBusy}
                aria-label={`Link ${fullName}`}
                onClick={() =>
                  void change.set(
                    (linked) => [...linked, { id, linkByDefault: linked.length === 0 }],
                    `${fullName} linked`,
                  )
                }
              >
                Link
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
