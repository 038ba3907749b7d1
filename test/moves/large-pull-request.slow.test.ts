/** A pull request whose checks, reviews and comments fill more than one page. */
import { beforeEach, expect, it } from "@jest/globals";
import { commentsOf } from "../support/stories/comments.ts";
import { openCard, type OpenCard } from "../support/stories/open-card.ts";
import { compareWithForge, review, commentOnPull } from "../support/stories/repairing.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const RUNS = 1_200;
const FAILING_RUNS = 30;
const ANNOTATIONS = 400;
const ANNOTATIONS_SHOWN = 20;
const REVIEWS = 300;
const COMMENTS = 1_000;
/** How many of the newest comments a comparison reads. */
const COMPARED = 20;

const world = useWorld({}, expectAllConsistent);
let board: TestBoard;
let card: OpenCard;
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

/** The entries of a card's two repositories: `large` may have an error, `small` may not. */
async function entriesOf(what: "checks" | "reviews"): Promise<{ small: Entry; large: Entry }> {
  const { status, body } = await board.api.get<Entry[]>(`/v1/cards/${card.number}/${what}`);
  expect(status).toBe(200);
  const [small, large] = body;
  if (!small || !large) throw new Error("the card has two repositories");
  expect(small).toMatchObject({ repository: `${board.owner}/api`, error: null });
  expect((what === "checks" ? large.runs : large.reviews) === null).toBe(large.error !== null);
  return { small, large };
}

// Fault: C16 1,200 checks, 300 reviews or 1,000 comments => all are read
it(`all ${RUNS} check runs are returned, with ${ANNOTATIONS_SHOWN} annotations of each failing one`, async () => {
  const { state } = world.forge.context;
  const created = await board.person("ada", "POST", `/repos/${board.owner}/web/check-runs`, {
    name: "run 0",
    head_sha: card.heads["web"],
    conclusion: "success",
  });
  const passing = state.checkRuns.need(Number(created.body["id"]));
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
  for (let index = 1; index < RUNS; index++) {
    const failing = index <= FAILING_RUNS ? { conclusion: "failure" as const, annotations } : {};
    state.checkRuns.save({ ...passing, id: state.newId(), name: `run ${index}`, ...failing });
  }
  const { large } = await entriesOf("checks");
  const expected = { runs: RUNS, notes: Array.from({ length: FAILING_RUNS }, () => ANNOTATIONS_SHOWN) };
  const failing = large.runs?.filter((run) => run.state === "failing") ?? [];
  const found = { runs: large.runs?.length, notes: failing.map(({ notes }) => notes.length) };
  expect(large.error === null ? found : expected).toEqual(expected);
});

it(`all ${REVIEWS} reviews are returned`, async () => {
  const { state } = world.forge.context;
  const first = state.reviews.need(await review(board, 1, "COMMENT"));
  for (let index = 1; index < REVIEWS; index++) {
    state.reviews.save({ ...first, id: state.newId(), body: `Review ${index}` });
  }
  const { large } = await entriesOf("reviews");
  const expected = [first.body, ...Array.from({ length: REVIEWS - 1 }, (_, index) => `Review ${index + 1}`)];
  const found = large.reviews?.map(({ body }) => body);
  expect(large.error === null ? found : expected).toEqual(expected);
});

it(`a comparison finds the newest ${COMPARED} of ${COMMENTS} comments without webhooks, each once`, async () => {
  const { state } = world.forge.context;
  const first = state.comments.need(await commentOnPull(board, 1, "Comment 0"));
  for (let index = 1; index < COMMENTS; index++) {
    state.comments.save({ ...first, id: state.newId(), body: `Comment ${index}` });
  }
  await compareWithForge(world);
  await compareWithForge(world);
  const found = (await commentsOf(board.api, card.number)).map(({ body }) => body);
  const newest = Array.from({ length: COMPARED }, (_, index) => `Comment ${COMMENTS - COMPARED + index}`);
  expect(found).toEqual(["Comment 0", ...newest]);
});
