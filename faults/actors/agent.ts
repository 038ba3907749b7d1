import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../seeded-random.ts";
import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";
import type { Caller } from "./caller.ts";

export interface AgentContext {
  readonly caller: Caller;
  readonly random: SeededRandom;
  readonly own: BoardKnowledge;
  /** Another tenant's board, whose ids this agent sometimes sends. */
  readonly foreign: BoardKnowledge | undefined;
}

const WEIGHTS = {
  create: 3,
  move: 8,
  patch: 3,
  comment: 2,
  label: 1,
  read: 2,
  inbox: 2,
  release: 3,
  useForeignIds: 2,
} as const;

type Action = (context: AgentContext) => Promise<unknown>;

const ACTIONS: Readonly<Record<keyof typeof WEIGHTS, Action>> = {
  create: createCard,
  move,
  patch,
  comment,
  label,
  read,
  inbox: actOnInbox,
  release: actOnRelease,
  useForeignIds,
};

/** Performs random actions until `isOver`. */
export async function runAgent(context: AgentContext, isOver: () => boolean): Promise<void> {
  await createCard(context);
  while (!isOver()) {
    await ACTIONS[context.random.weighted(WEIGHTS)](context);
    await sleep(context.random.between(0, 150));
  }
}

async function createCard({ caller, random, own }: AgentContext): Promise<void> {
  const { stages, repositories } = own.board;
  const sent = {
    title: uniqueText(own, "card"),
    description: uniqueText(own, "created as"),
    ...(random.chance(0.4) && { repositoryIds: Object.values(repositories) }),
    ...(random.chance(0.3) && { statusId: stages["In progress"] }),
    ...(random.chance(0.1) && { hotfix: true }),
  };
  const created = await caller.write("POST", "/v1/cards", sent);
  if (created.status === 201) own.cards.push((created.body as { number: number }).number);
}

async function move({ caller, random, own }: AgentContext): Promise<void> {
  const { stages } = own.board;
  const stage = random.weighted({ Backlog: 1, "To do": 1, "In progress": 4, "In review": 4, Done: 4 });
  const sent = { statusId: stages[stage], index: random.between(0, 3) };
  await caller.write("POST", `/v1/cards/${someCard(random, own)}/move`, sent);
}

async function patch({ caller, random, own }: AgentContext): Promise<void> {
  const sent = {
    title: uniqueText(own, "renamed"),
    ...(random.chance(0.5) && { priority: random.pick(["low", "medium", "high"]) }),
    ...(random.chance(0.5) && { labelIds: own.labels.filter(() => random.chance(0.3)) }),
    ...(random.chance(0.2) && { repositoryIds: Object.values(own.board.repositories) }),
  };
  await caller.write("PATCH", `/v1/cards/${someCard(random, own)}`, sent);
}

async function comment({ caller, random, own }: AgentContext): Promise<void> {
  const sent = { body: uniqueText(own, "remark") };
  await caller.write("POST", `/v1/cards/${someCard(random, own)}/comments`, sent);
}

async function label({ caller, own }: AgentContext): Promise<void> {
  own.count += 1;
  const sent = { name: `label ${own.count} only-${own.board.owner}`.slice(0, 50) };
  const created = await caller.write("POST", "/v1/labels", sent);
  if (created.status === 201) own.labels.push((created.body as { id: string }).id);
}

async function read({ caller, random, own }: AgentContext): Promise<void> {
  const number = someCard(random, own);
  await caller.get(random.pick(["/v1/board", "/v1/inbox", `/v1/cards/${number}`, "/v1/releases"]) ?? "");
  await caller.get(`/v1/cards/${number}/timeline`);
}

async function actOnInbox({ caller, random, own }: AgentContext): Promise<void> {
  const inbox = await caller.get("/v1/inbox");
  if (inbox.status !== 200) return;
  const item = random.pick(
    (inbox.body as readonly { id: string; kind: string }[]).filter(
      ({ kind }) => kind === "branch_suggestion",
    ),
  );
  if (!item) return;
  if (random.chance(0.1)) await caller.write("DELETE", `/v1/inbox/${item.id}`);
  else {
    const card = random.chance(0.5) ? `?card=${someCard(random, own)}` : "";
    await caller.write("POST", `/v1/inbox/${item.id}/adopt${card}`);
  }
}

/** Creates a release or changes an existing one. */
async function actOnRelease(context: AgentContext): Promise<void> {
  const { caller, random, own } = context;
  const id = random.pick(own.releases.slice(-3));
  if (id === undefined || random.chance(0.15)) return createRelease(context);
  const path = `/v1/releases/${id}`;
  const { stages, repositories } = own.board;
  switch (random.weighted({ freeze: 3, unfreeze: 1, pick: 3, promote: 2, complete: 2 })) {
    case "freeze":
      await caller.write("POST", `${path}/freeze`);
      break;
    case "unfreeze":
      await caller.write("DELETE", `${path}/freeze`);
      break;
    case "pick":
      await caller.write("POST", `${path}/pick`, { taskNumber: random.pick(own.cards) ?? 1 });
      break;
    case "promote":
      await caller.write("POST", `${path}/promote`, {
        statusId: random.pick([stages["In progress"], stages["In review"], stages.Done]),
      });
      break;
    case "complete": {
      own.count += 1;
      const tagName = `v${own.count}`;
      const versions = Object.values(repositories).map((repositoryId) => ({ repositoryId, tagName }));
      await caller.write("POST", `${path}/complete`, { versions });
    }
  }
}

async function createRelease({ caller, random, own }: AgentContext): Promise<void> {
  const created = await caller.write("POST", "/v1/releases", { name: uniqueText(own, "release") });
  if (created.status !== 201) return;
  const { id } = created.body as { id: string };
  own.releases.push(id);
  const taskNumbers = own.cards.filter(() => random.chance(0.4));
  await caller.write("PUT", `/v1/releases/${id}/cards`, { taskNumbers });
}

/** Uses an id of another tenant, which must be unknown and change nothing. */
async function useForeignIds(context: AgentContext): Promise<void> {
  await context.random.pick(foreignRequests(context))?.();
}

/** Requests with ids of another tenant, of every kind. */
export function foreignRequests({ caller, random, own, foreign }: AgentContext): (() => Promise<unknown>)[] {
  if (!foreign) return [];
  const number = someCard(random, own);
  const { board } = foreign;
  const label = random.pick(foreign.labels);
  const release = random.pick(foreign.releases);
  return [
    () => caller.write("POST", `/v1/cards/${number}/move`, { statusId: board.stages["To do"], index: 0 }),
    () => caller.write("PATCH", `/v1/cards/${number}`, { repositoryIds: Object.values(board.repositories) }),
    () =>
      caller.write("POST", "/v1/cards", {
        title: `intruder of ${own.board.owner}`,
        projectId: board.projectId,
      }),
    ...(label ? [() => caller.write("PATCH", `/v1/cards/${number}`, { labelIds: [label] })] : []),
    ...(label ? [() => caller.write("PATCH", `/v1/labels/${label}`, { name: "intruder" })] : []),
    ...(release ? [() => caller.write("POST", `/v1/releases/${release}/freeze`)] : []),
    () => caller.get(`/v1/board?projectId=${board.projectId}`),
  ];
}

const someCard = (random: SeededRandom, { cards }: BoardKnowledge): number => random.pick(cards) ?? 1;
