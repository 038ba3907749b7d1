import { useEffect } from "react";
import { useSearchParams } from "wouter";
import { useProjects } from "../api/reads.ts";
import type { Project } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";

const settingOf = (workspaceId: string): string => `trunkline:project:${workspaceId}`;

/**
 * The project of the address (`?project=<slug>`), by default the one that this tab has shown last, or the board's first
 * one.
 */
export function useProject(): {
  readonly project: Project | undefined;
  readonly projects: readonly Project[];
  readonly error: unknown;
  readonly isLoading: boolean;
} {
  const { board } = useWorkspace();
  const [search] = useSearchParams();
  const { data: projects = [], error, isPending } = useProjects();
  const setting = settingOf(board.workspaceId);
  const find = (slug: string | null): Project | undefined => projects.find((each) => each.slug === slug);
  const named = find(search.get("project"));
  const slug = named?.slug;
  useEffect(() => {
    if (slug !== undefined) sessionStorage.setItem(setting, slug);
  }, [setting, slug]);
  const project = named ?? find(sessionStorage.getItem(setting)) ?? projects[0];
  return { project, projects, error, isLoading: isPending };
}

/** Puts the project of what a page shows into its address, so that the links around it keep the project. */
export function useProjectOfPage(projectId: string): void {
  const [search, setSearch] = useSearchParams();
  const { data: projects = [] } = useProjects();
  const slug = projects.length > 1 ? projects.find(({ id }) => id === projectId)?.slug : undefined;
  useEffect(() => {
    if (slug === undefined || search.get("project") === slug) return;
    setSearch(
      (params) => {
        params.set("project", slug);
        return params;
      },
      { replace: true },
    );
  }, [slug, search, setSearch]);
}
