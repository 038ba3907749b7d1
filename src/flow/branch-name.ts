const MAX_SLUG = 50;

/** Text with its letters taken apart from their accents, and Latin letters that have no plain twin spelled out. */
export const spelledOut = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll("ß", "ss")
    .replaceAll(/[øØ]/g, "o")
    .replaceAll(/[æÆ]/g, "ae")
    .replaceAll(/[łŁ]/g, "l");

/**
 * A title as part of a branch name: ASCII letters, digits and single hyphens, at most 50 characters; empty when nothing of
 * the title can be written so.
 */
export function slugOf(title: string): string {
  const ascii = spelledOut(title)
    .replaceAll(/\p{Mark}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  return ascii.slice(0, MAX_SLUG).replaceAll(/^-+|-+$/g, "");
}

/**
 * The name of a card's branch after the flow's pattern (`card/{number}-{slug}`). Always a valid ref name whatever the title;
 * `attempt` 2 and up add `-2`, `-3` where a foreign branch has the name already.
 */
export function branchNameFor(pattern: string, number: number, title: string, attempt = 1): string {
  const name = pattern
    .replaceAll("{number}", String(number))
    .replaceAll("{slug}", slugOf(title))
    .replaceAll(/[-/.]+(?=\/|$)/g, "");
  return attempt === 1 ? name : `${name}-${attempt}`;
}
