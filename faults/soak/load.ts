import { setTimeout as sleep } from "node:timers/promises";
import type { TestBoard } from "../../test/support/world.ts";
import { makeCaller, type Caller } from "../actors/caller.ts";
import type { Dice } from "../dice.ts";
import type { History } from "../history.ts";
import type { SoakWorld } from "./world.ts";

/** What came of the load so far. */
export interface Progress {
  /** Cards that stand at the end of the flow, their branches merged. */
  through: number;
  calls: number;
  /** Answers of 5xx and answers that never came, which callers ask for again. */
  failed: number;
  /** What went wrong on purpose. */
  faults: number;
}

/** A board keeps so many cards; each new one takes the oldest away, so that what there is does not grow. */
const CARDS_KEPT = 20;

interface Desk {
  readonly board: TestBoard;
  readonly caller: Caller;
  readonly dice: Dice;
  readonly progress: Progress;
}

/** Brings cards through the flow of every board, `lives` at a time on each, until told to stop. */
export async function runLoad(
  world: SoakWorld,
  { lives, dice, isOver }: { readonly lives: number; readonly dice: Dice; readonly isOver: () => boolean },
  progress: Progress,
): Promise<void> {
  const history = counted(progress);
  const giveUpAt = (): number => (isOver() ? Date.now() : Infinity);
  const running = world.boards.flatMap((board, at) =>
    Array.from({ length: lives }, async (_, nth) => {
      const actor = `agent-${at}-${nth}`;
      const own = dice.for(actor);
      const { owner, api } = board;
      const processes = [world.service];
      const caller = makeCaller({
        actor,
        owner,
        apiKey: api.apiKey,
        processes,
        dice: own,
        history,
        giveUpAt,
      });
      const kept: number[] = [];
      while (!isOver()) await liveOneCard({ board, caller, dice: own, progress }, kept, isOver);
    }),
  );
  await Promise.all([...running, troubleTheForge(world, dice.for("troubles"), progress, isOver)]);
}

/** Keeps no record of what was said, only how often. */
const counted = (progress: Progress): Pick<History, "call"> => ({
  call: ({ status }) => {
    progress.calls += 1;
    if (status === null || status >= 500) progress.failed += 1;
  },
});

/** One card from its making to its merge, with what people do on the forge meanwhile, and everybody looking on. */
async function liveOneCard(desk: Desk, kept: number[], isOver: () => boolean): Promise<void> {
  const { board, caller, dice, progress } = desk;
  const { stages } = board;
  const made = await caller.write("POST", "/v1/cards", {
    title: "A card of the soak",
    description: "[[Nothing]]",
  });
  if (made.status !== 201) return;
  const { number } = made.body as { number: number };
  kept.push(number);
  const steps = [
    () => moveTo(desk, number, stages["In progress"]),
    () => byPerson(work(desk, number)),
    () => caller.write("POST", `/v1/cards/${number}/comments`, { body: "Said on the card" }),
    () => moveTo(desk, number, stages["In review"]),
    () => byPerson(review(desk, number)),
    () => moveTo(desk, number, stages.Done),
  ];
  for (const step of steps) {
    if (isOver()) return;
    await step();
    await look(desk, number);
    await sleep(dice.between(200, 800));
  }
  const { body } = await caller.get(`/v1/cards/${number}`);
  if ((body as { statusId?: string }).statusId === stages.Done) progress.through += 1;
  if (kept.length > CARDS_KEPT) await caller.write("DELETE", `/v1/cards/${kept.shift()}`);
}

const moveTo = ({ caller }: Desk, number: number, statusId: string): Promise<unknown> =>
  caller.write("POST", `/v1/cards/${number}/move`, { statusId, index: 0 });

/** What people do may fail for reasons of the forge's; then it stays undone. */
const byPerson = (act: Promise<void>): Promise<void> => act.catch(() => undefined);

async function look({ caller, dice }: Desk, number: number): Promise<void> {
  const card = `/v1/cards/${number}`;
  const places = ["/v1/inbox", card, `${card}/timeline`, `${card}/checks`, "/v1/trunk", "/v1/labels"];
  await caller.get("/v1/board");
  await caller.get(dice.pick(places) ?? card);
}

/** The card's branch and pull request, as the API tells them; null while there is none. */
async function branchOf(
  { caller }: Desk,
  number: number,
): Promise<{ branch: string; pull: number | null } | null> {
  const { status, body } = await caller.get(`/v1/cards/${number}`);
  if (status !== 200) return null;
  const [linked] = (body as { repositories: { branchName: string | null; prNumber: number | null }[] })
    .repositories;
  return linked?.branchName ? { branch: linked.branchName, pull: linked.prNumber } : null;
}

/** A commit on the card's branch, now and then pushed with Git. */
async function work(desk: Desk, number: number): Promise<void> {
  const { board, dice } = desk;
  const found = await branchOf(desk, number);
  if (!found) return;
  const file = `work-${number}.txt`;
  if (dice.chance(0.8)) {
    const at = `/repos/${board.owner}/web/contents/${file}`;
    await board.person("ada", "PUT", at, { message: "Work", branch: found.branch, content: "" });
    return;
  }
  const clone = await board.clone();
  try {
    await clone.checkout(found.branch);
    await clone.commit("Work", { [file]: "work\n" });
    await clone.push("origin", `HEAD:${found.branch}`);
  } finally {
    await clone.remove();
  }
}

/** What others do on the pull request: a check, a remark, an approval. */
async function review(desk: Desk, number: number): Promise<void> {
  const { board } = desk;
  const found = await branchOf(desk, number);
  if (!found?.pull) return;
  const at = `/repos/${board.owner}/web`;
  const { body } = await board.person("grace", "GET", `${at}/pulls/${found.pull}`);
  const { sha } = body["head"] as { sha: string };
  await board.person("grace", "POST", `${at}/statuses/${sha}`, { state: "success", context: "ci" });
  await board.person("grace", "POST", `${at}/issues/${found.pull}/comments`, { body: "Said on the forge" });
  await board.person("grace", "POST", `${at}/pulls/${found.pull}/reviews`, { event: "APPROVE" });
}

const EVERY_MS = 5_000;

/** About one call in a hundred of the service fails at the forge, and a webhook now and then is doubled or lost. */
async function troubleTheForge(
  { forge }: SoakWorld,
  dice: Dice,
  progress: Progress,
  isOver: () => boolean,
): Promise<void> {
  const { faults, webhooks } = forge.control;
  while (!isOver()) {
    await sleep(EVERY_MS);
    const installation = dice.pick(forge.context.state.installations.all());
    if (!installation) continue;
    const effect = dice.pick(["before", "after"] as const) ?? "before";
    const fault = dice.chance(0.5)
      ? ({ kind: "answer", status: 502, effect } as const)
      : ({ kind: "reset", effect } as const);
    // Those before have been met or never will be.
    faults.clear();
    webhooks.clear();
    faults.add({ match: { installationId: installation.id }, fault, times: 1 });
    webhooks.add({ fault: dice.chance(0.5) ? { kind: "duplicate", copies: 1 } : { kind: "drop" }, times: 1 });
    progress.faults += 2;
  }
  faults.clear();
  webhooks.clear();
}
