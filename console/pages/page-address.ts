import { useAddress } from "../shell/use-project.ts";

/**
 * The address of a page. A title leads to it as well, because the service makes the slug; it is reduced to letters,
 * digits and the `#` before a heading.
 */
export function usePageAddress(): (slugOrTitle: string) => string {
  const addressOf = useAddress();
  return (slugOrTitle) =>
    addressOf(
      `/pages/${encodeURIComponent(slugOrTitle.replaceAll(/(?:[^\p{L}\p{N}\p{M}#]|#(?!\S))+/gu, "-"))}`,
    );
}

/** The form for a new page, on the top level or below another one. */
export function useNewPageAddress(): (given: { parentId?: string | null; title?: string }) => string {
  const addressOf = useAddress();
  return ({ parentId = null, title = "" }) =>
    addressOf("/pages", {
      new: "1",
      ...(parentId !== null && { parent: parentId }),
      ...(title !== "" && { title }),
    });
}
