import { setTimeout as sleep } from "node:timers/promises";
import type { TestBoard } from "../../test/support/world.ts";
import { makeCaller, type Caller } from "../actors/caller.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import { ageRows } from "./ageing.ts";
import { startVisitors, type Progress } from "./visitors.ts";
import type { SoakWorld } from "./world.ts";

/** Each further card replaces the oldest one, so that the data does not grow. */
const CARDS_PER_AGENT = 20;

interface Agent {
  readonly board: TestBoard;
  readonly caller: Caller;
  readonly random: SeededRandom;
  readonly progress: Progress;
}

/**
 * Moves cards through the flow of every board, `lives` at a time on each, until `isOver`. Returns
 * what went wrong for other clients.
 */
export async function runLoad(
  world: SoakWorld,
  {
    lives,
    random,
    isOver,
  }: { readonly lives: number; readonly random: SeededRandom; readonly isOver: () => boolean },
  progress: Progress,
): Promise<string[]> {
  const visitors = await Promise.all(
    world.boards.map((board) => startVisitors(world, board, progress, isOver)),
  );
  const history = counted(progress);
  const retryUntil = (): number => (isOver() ? Date.now() : Infinity);
  const processes = [world.service];
  const running = world.boards.flatMap((board, at) =>
    Array.from({ length: lives }, async (_, nth) => {
      const actor = `agent-${at}-${nth}`;
      const { owner } = board;
      const { apiKey } = board.api;
      const callRandom = random.for(actor);
      const caller = makeCaller({ actor, owner, apiKey, processes, random: callRandom, history, retryUntil });
      const kept: number[] = [];
      while (!isOver()) await finishOneCard({ board, caller, random: callRandom, progress }, kept, isOver);
    }),
  );
  const faults = injectFaults(world, random.for("troubles"), progress, isOver);
  await Promise.all([...running, faults, ageRows(world, isOver)]);
  return (await Promise.all(visitors.map((each) => each.end()))).flat();
}

/** Counts calls without recording them. */
const counted = (progress: Progress): Pick<History, "call"> => ({
  call: ({ status }) => {
    progress.calls += 1;
    if (status === null || status >= 500) progress.failed += 1;
  },
});

/** Moves one card from its creation to its merge. People act and agents read in between. */
async function finishOneCard(agent: Agent, kept: number[], isOver: () => boolean): Promise<void> {
  const { board, caller, random, progress } = agent;
  const { stages } = board;
  const created = await caller.write("POST", "/v1/cards", {
    title: "A card of the soak",
    description: "[[Nothing]]",
  });
  if (created.status !== 201) return;
  const { number } = created.body as { number: number };
  kept.push(number);
  const steps = [
    () => moveTo(agent, number, stages["In progress"]),
    () => byPerson(work(agent, number)),
    () => caller.write("POST", `/v1/cards/${number}/comments`, { body: "A comment on the card" }),
    () => moveTo(agent, number, stages["In review"]),
    () => byPerson(review(agent, number)),
    () => moveTo(agent, number, stages.Done),
  ];
  for (const step of steps) {
    if (isOver()) return;
    await step();
    await read(agent, number);
    await sleep(random.between(200, 800));
  }
  const { body } = await caller.get(`/v1/cards/${number}`);
  if ((body as { statusId?: string }).statusId === stages.Done) progress.finishedCards += 1;
  if (kept.length > CARDS_PER_AGENT) await caller.write("DELETE", `/v1/cards/${kept.shift()}`);
}

const moveTo = ({ caller }: Agent, number: number, statusId: string): Promise<unknown> =>
  caller.write("POST", `/v1/cards/${number}/move`, { statusId, index: 0 });

/** The forge may refuse an action of a person. */
const byPerson = (action: Promise<void>): Promise<void> => action.catch(() => undefined);

async function read({ caller, random }: Agent, number: number): Promise<void> {
  const card = `/v1/cards/${number}`;
  const paths = ["/v1/inbox", card, `${card}/timeline`, `${card}/checks`, "/v1/trunk", "/v1/labels"];
  await caller.get("/v1/board");
  await caller.get(random.pick(paths) ?? card);
}

/** The card's branch and pull request in the API; null without a branch. */
async function branchOf(
  { caller }: Agent,
  number: number,
): Promise<{ branch: string; pull: number | null } | null> {
  const { status, body } = await caller.get(`/v1/cards/${number}`);
  if (status !== 200) return null;
  const [linked] = (body as { repositories: { branchName: string | null; prNumber: number | null }[] })
    .repositories;
  return linked?.branchName ? { branch: linked.branchName, pull: linked.prNumber } : null;
}

/** Commits to the card's branch through the REST API, sometimes with git. */
async function work(agent: Agent, number: number): Promise<void> {
  const { board, random } = agent;
  const found = await branchOf(agent, number);
  if (!found) return;
  const file = `work-${number}.txt`;
  if (random.chance(0.8)) {
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

/** Reports a status on the pull request, comments on it and approves it. */
async function review(agent: Agent, number: number): Promise<void> {
  const { board } = agent;
  const found = await branchOf(agent, number);
  if (!found?.pull) return;
  const at = `/repos/${board.owner}/web`;
  const { body } = await board.person("grace", "GET", `${at}/pulls/${found.pull}`);
  const { sha } = body["head"] as { sha: string };
  await board.person("grace", "POST", `${at}/statuses/${sha}`, { state: "success", context: "ci" });
  await board.person("grace", "POST", `${at}/issues/${found.pull}/comments`, {
    body: "A comment on the forge",
  });
  await board.person("grace", "POST", `${at}/pulls/${found.pull}/reviews`, { event: "APPROVE" });
}

const FAULT_INTERVAL_MS = 5_000;

/** Fails about one call in a hundred to the forge, and drops or duplicates some webhooks. */
async function injectFaults(
  { forge }: SoakWorld,
  random: SeededRandom,
  progress: Progress,
  isOver: () => boolean,
): Promise<void> {
  const { faults, webhooks } = forge.control;
  while (!isOver()) {
    await sleep(FAULT_INTERVAL_MS);
    const installation = random.pick(forge.context.state.installations.all());
    if (!installation) continue;
    const effect = random.pick(["before", "after"] as const) ?? "before";
    const fault = random.chance(0.5)
      ? ({ kind: "response", status: 502, effect } as const)
      : ({ kind: "reset", effect } as const);
    // Remove faults that no call has met.
    faults.clear();
    webhooks.clear();
    faults.add({ match: { installationId: installation.id }, fault, times: 1 });
    webhooks.add({
      fault: random.chance(0.5) ? { kind: "duplicate", copies: 1 } : { kind: "drop" },
      times: 1,
    });
    progress.faults += 2;
  }
  faults.clear();
  webhooks.clear();
}
