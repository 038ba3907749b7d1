/** A fenced code block. */
export interface CodeBlock {
  /** The word after the fence, such as `sh`. */
  readonly kind: string;
  readonly text: string;
}

/** The code blocks of one section of a document, in order, those in lists included. */
export function blocksOf(document: string, section: string): CodeBlock[] {
  const [, text = ""] = document.split(`\n## ${section}\n`);
  const [own = ""] = text.split("\n## ");
  return [...own.matchAll(/^ *```(\w+)\n(.*?)^ *```$/gms)].map(([, kind = "", block = ""]) => ({
    kind,
    text: block,
  }));
}

/** The text of the blocks of one kind. */
export const textsOf = (blocks: readonly CodeBlock[], kind: string): string[] =>
  blocks.filter((block) => block.kind === kind).map(({ text }) => text);
