import { useEffect } from "react";
import { useSearchParams } from "wouter";
import { ApiProblem } from "../api/problem.ts";
import { useProjects } from "../api/reads.ts";
import type { Project } from "../api/schema.d.ts";
import { readStorage, writeStorage } from "../api/storage.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useTitle } from "./use-title.ts";

const settingOf = (workspaceId: string): string => `trunkline:project:${workspaceId}`;

/**
 * The project of the address (`?project=<slug>`), by default the one that this tab has shown last, or the board's first
 * one. If the slug of the shown project changes, the address follows. Another unknown slug is an error.
 */
export function useProject(): {
  readonly project: Project | undefined;
  readonly projects: readonly Project[];
  readonly error: unknown;
  readonly isLoading: boolean;
} {
  const { board } = useWorkspace();
  const [search, setSearch] = useSearchParams();
  const { data: projects = [], error, isPending, isFetching } = useProjects();
  const setting = settingOf(board.workspaceId);
  const asked = search.get("project");
  const [shownId, shownSlug] = readStorage("sessionStorage", setting)?.split(" ") ?? [];
  const shown = projects.find((each) => each.id === shownId);
  const ofAddress = projects.find((each) => each.slug === asked) ?? (asked === shownSlug ? shown : undefined);
  const { id, slug } = ofAddress ?? {};
  useEffect(() => {
    if (id === undefined || slug === undefined) return;
    writeStorage("sessionStorage", setting, `${id} ${slug}`);
    if (asked !== slug) setSearch(withProject(slug), { replace: true });
  }, [setting, id, slug, asked, setSearch]);
  const project = asked === null ? (shown ?? projects[0]) : ofAddress;
  const isUnknown = asked !== null && project === undefined && projects.length > 0;
  return {
    project,
    projects,
    error: error ?? (isUnknown && !isFetching ? noProject(asked) : null),
    isLoading: isPending || (isUnknown && isFetching),
  };
}

const noProject = (slug: string): ApiProblem =>
  new ApiProblem(
    {
      statusCode: 404,
      error: "Not Found",
      message: `This board has no project with the slug ${slug}: it was deleted, or its slug has changed. The links of the top bar lead to other projects.`,
    },
    null,
  );

const withProject =
  (slug: string) =>
  (params: URLSearchParams): URLSearchParams => {
    params.set("project", slug);
    return params;
  };

/** Builds addresses of the open board that keep the project of the present one. `more` are further parameters. */
export function useAddress(): (path: string, more?: Readonly<Record<string, string>>) => string {
  const { base } = useWorkspace();
  const [search] = useSearchParams();
  const { project } = useProject();
  const keeps = project !== undefined && search.has("project");
  return (path, more = {}) => {
    const query = new URLSearchParams({ ...(keeps && { project: project.slug }), ...more }).toString();
    return query === "" ? `${base}${path}` : `${base}${path}?${query}`;
  };
}

/** The title of a screen; if the board has several projects, the title of a screen about one project names it. */
export function useBoardTitle(title: string, isOfProject: boolean): void {
  const { board } = useWorkspace();
  const { project, projects } = useProject();
  useTitle(title, ...(isOfProject && project && projects.length > 1 ? [project.name] : []), board.name);
}

/** Puts the project of what a page shows into its address, so that the links around it keep the project. */
export function useProjectOfPage(projectId: string): void {
  const [search, setSearch] = useSearchParams();
  const { data: projects = [] } = useProjects();
  const slug = projects.length > 1 ? projects.find(({ id }) => id === projectId)?.slug : undefined;
  useEffect(() => {
    if (slug === undefined || search.get("project") === slug) return;
    setSearch(withProject(slug), { replace: true });
  }, [slug, search, setSearch]);
}
