import { setImmediate as nextTurn } from "node:timers/promises";
import { readWikiTargets } from "../../flow/wiki-links.ts";

/** The links of a text to pages, with the slug of each. Other work runs between the steps. */
export async function wikiTargetsOf(markdown: string): Promise<ReadonlyMap<string, string>> {
  const reading = readWikiTargets(markdown);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** The slugs of the pages to which a text links, each once. */
export const wikiLinksOf = async (markdown: string): Promise<string[]> => [
  ...new Set((await wikiTargetsOf(markdown)).values()),
];
