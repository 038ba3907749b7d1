/** A fenced code block. */
export interface CodeBlock {
  /** The language after the fence, such as `sh`. */
  readonly kind: string;
  readonly text: string;
}

/** The code blocks of one section of a document, in order, also those in lists. */
export function blocksOf(document: string, section: string): CodeBlock[] {
  const [, text = ""] = document.split(`\n## ${section}\n`);
  const [own = ""] = text.split("\n## ");
  return [...own.matchAll(/^ *```(\w+)\n(.*?)^ *```$/gms)].map(([, kind = "", block = ""]) => ({
    kind,
    text: block,
  }));
}

/** The texts of the blocks of one language. */
export const textsOf = (blocks: readonly CodeBlock[], kind: string): string[] =>
  blocks.filter((block) => block.kind === kind).map(({ text }) => text);
