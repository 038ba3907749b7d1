/** A pull request with more on it than one page of anything holds. */
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { commentsOf } from "../support/stories/comments.ts";
import { openCard, type OpenCard } from "../support/stories/open-card.ts";
import { compared, review, say } from "../support/stories/repairing.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

const RUNS = 1_200;
const FAILING = 30;
const ANNOTATIONS = 400;
const NOTES = 20;
const REVIEWS = 300;
const COMMENTS = 1_000;
/** How many of the newest comments a comparison looks at. */
const COMPARED = 20;

let world: TestWorld;
let board: TestBoard;
let card: OpenCard;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => expectAllConsistent(world));
afterAll(() => world.stop());
beforeEach(async () => {
  board = await world.board({ repositories: ["web", "api"] });
  card = await openCard(world, board, ["web", "api"]);
});

interface Entry {
  readonly repository: string;
  readonly runs?: readonly { state: string; notes: readonly object[] }[] | null;
  readonly reviews?: readonly { body: string }[] | null;
  readonly error: string | null;
}

/** What a card's two repositories say: the quiet one always, the crowded one within 5 seconds or why not. */
async function answersOf(what: "checks" | "reviews"): Promise<{ quiet: Entry; crowded: Entry }> {
  const { status, body } = await board.api.get<Entry[]>(`/v1/cards/${card.number}/${what}`);
  expect(status).toBe(200);
  const [quiet, crowded] = body;
  if (!quiet || !crowded) throw new Error("the card has two repositories");
  expect(quiet).toMatchObject({ repository: `${board.owner}/api`, error: null });
  expect((what === "checks" ? crowded.runs : crowded.reviews) === null).toBe(crowded.error !== null);
  return { quiet, crowded };
}

// Fault: C16 1,200 checks, 300 reviews or 1,000 comments => all are read
it(`${RUNS} check runs are told whole, and ${NOTES} notes of each that fails`, async () => {
  const { state } = world.forge.context;
  const made = await board.person("ada", "POST", `/repos/${board.owner}/web/check-runs`, {
    name: "run 0",
    head_sha: card.heads["web"],
    conclusion: "success",
  });
  const passing = state.checkRuns.need(Number(made.body["id"]));
  const annotations = Array.from({ length: ANNOTATIONS }, (_, line) => ({
    path: "app.txt",
    startLine: line + 1,
    endLine: line + 1,
    startColumn: null,
    endColumn: null,
    level: "failure" as const,
    title: null,
    message: `wrong in line ${line + 1}`,
    rawDetails: null,
  }));
  for (let turn = 1; turn < RUNS; turn++) {
    const failing = turn <= FAILING ? { conclusion: "failure" as const, annotations } : {};
    state.checkRuns.save({ ...passing, id: state.newId(), name: `run ${turn}`, ...failing });
  }
  const { crowded } = await answersOf("checks");
  const whole = { runs: RUNS, notes: Array.from({ length: FAILING }, () => NOTES) };
  const failing = crowded.runs?.filter((run) => run.state === "failing") ?? [];
  const told = { runs: crowded.runs?.length, notes: failing.map(({ notes }) => notes.length) };
  expect(crowded.error === null ? told : whole).toEqual(whole);
});

it(`${REVIEWS} reviews are told whole`, async () => {
  const { state } = world.forge.context;
  const first = state.reviews.need(await review(board, 1, "COMMENT"));
  for (let turn = 1; turn < REVIEWS; turn++) {
    state.reviews.save({ ...first, id: state.newId(), body: `Review ${turn}` });
  }
  const { crowded } = await answersOf("reviews");
  const whole = [first.body, ...Array.from({ length: REVIEWS - 1 }, (_, turn) => `Review ${turn + 1}`)];
  const told = crowded.reviews?.map(({ body }) => body);
  expect(crowded.error === null ? told : whole).toEqual(whole);
});

it(`of ${COMMENTS} comments nobody told of the newest ${COMPARED} are found, each once`, async () => {
  const { state } = world.forge.context;
  const first = state.comments.need(await say(board, 1, "Comment 0"));
  for (let turn = 1; turn < COMMENTS; turn++) {
    state.comments.save({ ...first, id: state.newId(), body: `Comment ${turn}` });
  }
  await compared(world);
  await compared(world);
  const told = (await commentsOf(board.api, card.number)).map(({ body }) => body);
  const newest = Array.from({ length: COMPARED }, (_, turn) => `Comment ${COMMENTS - COMPARED + turn}`);
  expect(told).toEqual(["Comment 0", ...newest]);
});
