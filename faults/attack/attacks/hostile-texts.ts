import { HOSTILE_MARKDOWN } from "../../../test/support/hostile-markdown.ts";
import { longestResponse } from "../response-times.ts";
import type { Scene } from "../scene.ts";

/** The longest page, and the longest comment. */
const [PAGE, COMMENT] = [199_990, 9_990];
/** A response beside such a text may take this long, or five times as long as beside a plain text. */
const MAX_MS = 250;
/** A single slow response proves nothing. */
const SLOW_TWICE = 2;

/** Saves the longest pages and comments of texts that are costly to parse, while others wait for a response. */
export async function hostileTexts(scene: Scene): Promise<void> {
  const { world, random } = scene;
  const board = world.boards.at(3);
  if (!board) throw new Error("the attack needs four boards");
  const page = await board.api.post<{ id: string }>("/v1/docs", {
    title: `Hostile ${random.between(1, 1e9)}`,
  });
  const { number } = await board.api.card({ title: "Hostile comments", repositoryIds: [] });
  const longestBeside = (textOf: (length: number) => string): Promise<number> => {
    const body = `[[a]]\n\n${textOf(PAGE)}`.slice(0, PAGE);
    const saving = Promise.all([
      board.api.patch(`/v1/docs/${page.body.id}`, { body }),
      board.api.post(`/v1/cards/${number}/comments`, { body: textOf(COMMENT).slice(0, COMMENT) || "x" }),
    ]);
    return longestResponse(world.service.baseUrl, saving);
  };
  const limit = Math.max(MAX_MS, 5 * (await longestBeside((length) => "plain ".repeat(length / 6))));
  while (!scene.isOver()) {
    const [what, textOf] = random.pick(HOSTILE_MARKDOWN) ?? HOSTILE_MARKDOWN[0]!;
    let slow = 0;
    for (let repeat = 0; repeat < SLOW_TWICE; repeat++) {
      if ((await longestBeside(textOf)) > limit) slow++;
    }
    scene.tried();
    if (slow === SLOW_TWICE)
      scene.found(`a text of ${what} delays other responses by more than ${Math.round(limit)} ms`);
  }
}
