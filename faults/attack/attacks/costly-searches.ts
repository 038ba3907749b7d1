import type { Scene } from "../scene.ts";

const PAGES = 50;
const LONGEST = 199_000;
/** A search for many words may take this long, or 32 times as long as one for a single word. */
const MAX_MS = 3_000;
const QUERIES = [
  Array.from({ length: 160 }, (_, at) => `w${at % 40}`)
    .join(" ")
    .slice(0, 500),
  Array.from({ length: 16 }, (_, at) => `w${at}`).join(" "),
];

/** Searches long pages for many words. */
export async function costlySearches(scene: Scene): Promise<void> {
  const board = scene.world.boards.at(2);
  if (!board) throw new Error("the attack needs three boards");
  const words = Array.from({ length: 40 }, (_, at) => `w${at}`).join(" ");
  const body = `${"filling ".repeat((LONGEST - 1_000) / 8).slice(0, 60_000)} ${words}`.padEnd(
    LONGEST,
    " padding",
  );
  for (let at = 0; at < PAGES; at++) await board.api.post("/v1/docs", { title: `Long ${at}`, body });
  const viewer = await board.as({ role: "viewer" });
  const search = async (query: string): Promise<number> => {
    const began = performance.now();
    const { status, text } = await viewer.get(`/v1/search?limit=50&q=${encodeURIComponent(query)}`);
    if (status >= 500) scene.found(`a search was answered ${status}: ${text}`);
    return Math.round(performance.now() - began);
  };
  const limit = Math.max(MAX_MS, 32 * (await search("w1")));
  while (!scene.isOver()) {
    for (const query of QUERIES) {
      const ms = await search(query);
      scene.tried();
      if (ms > limit) scene.found(`a search took ${ms} ms`);
    }
  }
}
