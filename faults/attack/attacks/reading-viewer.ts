import { setTimeout as sleep } from "node:timers/promises";
import { cardInReview } from "../../../test/support/stories/merged-card.ts";
import type { Scene } from "../scene.ts";

const READERS = 20;
const CARDS = 3;
const SECONDS = 5;
/** GitHub is asked about checks and about reviews, and each answer is served again for three seconds. */
const MAX_CALLS = CARDS * 2 * (SECONDS / 3 + 1) + 50;

const isRead = ({ operation }: { readonly operation: string | null }): boolean =>
  operation === "Checks" || operation === "Reviews";

/** Reads as a viewer what is read from GitHub, without a pause. The calls belong to the whole organization. */
export async function readingViewer(scene: Scene): Promise<void> {
  const { world, random } = scene;
  const board = world.boards.at(2);
  if (!board) throw new Error("the attack needs three boards");
  const numbers: number[] = [];
  for (let at = 0; at < CARDS; at++)
    numbers.push(
      await cardInReview(world, board, { web: { [`read-${at}.txt`]: "x\n" } }, `Read often ${at}`),
    );
  const viewer = await board.as({ role: "viewer" });
  const parts = ["checks", "reviews", `move-plan?statusId=${board.stages.Done}`];
  while (!scene.isOver()) {
    await world.forge.waitUntilIdle();
    const earlier = new Set(world.forge.requests.all);
    const end = performance.now() + SECONDS * 1_000;
    let reads = 0;
    const read = async (): Promise<void> => {
      while (performance.now() < end) {
        const path = `/v1/cards/${random.pick(numbers)}/${random.pick(parts)}`;
        const { status, text } = await viewer.get(path);
        if (status >= 500 && status !== 503) scene.found(`GET ${path}: ${status} ${text}`);
        reads++;
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
    const calls = world.forge.requests.all.filter((call) => !earlier.has(call) && isRead(call)).length;
    if (calls > MAX_CALLS) scene.found(`${reads} reads of ${CARDS} cards were ${calls} calls to GitHub`);
    scene.tried();
    await sleep(500);
  }
}
