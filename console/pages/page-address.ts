import { useWorkspace } from "../api/workspace.tsx";

/**
 * The address of a page. A title leads to it as well, because the service makes the slug; it is reduced to characters
 * that need no escape in a path.
 */
export function usePageAddress(): (slugOrTitle: string) => string {
  const { base } = useWorkspace();
  return (slugOrTitle) =>
    `${base}/pages/${encodeURIComponent(slugOrTitle.replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, "-"))}`;
}

/** The form for a new page, on the top level or below another one. */
export function useNewPageAddress(): (given: { parentId?: string | null; title?: string }) => string {
  const { base } = useWorkspace();
  return ({ parentId = null, title = "" }) => {
    const search = new URLSearchParams({ new: "1" });
    if (parentId !== null) search.set("parent", parentId);
    if (title !== "") search.set("title", title);
    return `${base}/pages?${search.toString()}`;
  };
}
