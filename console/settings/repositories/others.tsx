import { Link } from "wouter";
import { useProjects } from "../../api/reads.ts";
import type { Project, Repository } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { ExternalLink, gitHubPages } from "../../card/git/external-link.tsx";
import { Health } from "./health.tsx";
import { Take } from "./take.tsx";
import type { useSetRepositories } from "./use-set-repositories.ts";

export interface RowProps {
  readonly project: Project;
  readonly change: ReturnType<typeof useSetRepositories>;
  readonly mayEdit: boolean;
}

export const Name = ({ fullName }: Pick<Repository, "fullName">) => {
  const { session } = useWorkspace();
  return (
    <ExternalLink href={gitHubPages(session.forgeUrl, fullName).repository} className="mono">
      {fullName}
    </ExternalLink>
  );
};

/** The repositories that the project can get, and those of other projects. */
export function Others({
  repositories,
  project,
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
                  . A repository belongs to one project.
                </p>
              ) : (
                <Health repository={repository} isLinked={false} />
              )}
            </div>
            {mayEdit && <Take repository={repository} project={project} holder={holder} change={change} />}
          </li>
        );
      })}
    </ul>
  );
}
