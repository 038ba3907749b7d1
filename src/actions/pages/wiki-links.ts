import { setImmediate as nextTurn } from "node:timers/promises";
import { distinctLinks, readWikiTargets, type WikiLink } from "../../flow/wiki-links.ts";

/** The links of a text to pages, as they are written. Other work runs between the steps. */
export async function wikiTargetsOf(markdown: string): Promise<ReadonlyMap<string, WikiLink>> {
  const reading = readWikiTargets(markdown);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** The pages to which a text links, each once. */
export const wikiLinksOf = async (markdown: string): Promise<WikiLink[]> =>
  distinctLinks((await wikiTargetsOf(markdown)).values());
