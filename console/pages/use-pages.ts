import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useRead } from "../api/reads.ts";
import type { Page, PageSummary } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";

/** A page with its links as they are written and the slugs that they lead to. */
export type ShownPage = Page & {
  readonly links: readonly { readonly target: string; readonly slug: string }[];
};

/** The pages of the board, each followed by the pages below it. Live. */
export function usePages(): UseQueryResult<readonly PageSummary[]> {
  const { keys } = useWorkspace();
  return useRead(keys.list("docs"), "GET /v1/docs", { query: { limit: 200 } }, { all: true });
}

/** The key of a page by its slug: below the list's, so that a change of pages reads it again. */
export const usePageKey = (): ((slug: string) => readonly unknown[]) => {
  const { keys } = useWorkspace();
  return (slug) => [...keys.list("docs"), "slug", slug];
};

/** A page by its slug, an earlier slug, or its title; none for an empty slug. Live. */
export function usePage(slug: string): UseQueryResult<ShownPage> {
  const { client, feed } = useWorkspace();
  const keyOf = usePageKey();
  return useQuery({
    queryKey: keyOf(slug),
    enabled: slug !== "" && feed !== "connecting",
    queryFn: async ({ signal }) => {
      const response = await client.call(`/console/v1/pages/${encodeURIComponent(slug)}`, { signal });
      return (await response.json()) as ShownPage;
    },
  });
}

/** The pages that are not below a page, nor the page itself: it can be moved below these. */
export function outsideOf(pages: readonly PageSummary[], pageId: string): PageSummary[] {
  const inside = new Set([pageId]);
  for (const { id, parentId } of pages) if (parentId !== null && inside.has(parentId)) inside.add(id);
  return pages.filter(({ id }) => !inside.has(id));
}

/** How many pages are above each one. */
export function depthsOf(pages: readonly PageSummary[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  for (const { id, parentId } of pages)
    depths.set(id, parentId === null ? 0 : (depths.get(parentId) ?? 0) + 1);
  return depths;
}
