import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../seeded-random.ts";
import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";
import type { Caller } from "./caller.ts";

export interface AgentPlace {
  readonly caller: Caller;
  readonly dice: SeededRandom;
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

type Action = (place: AgentPlace) => Promise<unknown>;

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
export async function runAgent(place: AgentPlace, isOver: () => boolean): Promise<void> {
  await createCard(place);
  while (!isOver()) {
    await ACTIONS[place.dice.weighted(WEIGHTS)](place);
    await sleep(place.dice.between(0, 150));
  }
}

async function createCard({ caller, dice, own }: AgentPlace): Promise<void> {
  const { stages, repositories } = own.board;
  const sent = {
    title: uniqueText(own, "card"),
    description: uniqueText(own, "created as"),
    ...(dice.chance(0.4) && { repositoryIds: Object.values(repositories) }),
    ...(dice.chance(0.3) && { statusId: stages["In progress"] }),
    ...(dice.chance(0.1) && { hotfix: true }),
  };
  const created = await caller.write("POST", "/v1/cards", sent);
  if (created.status === 201) own.cards.push((created.body as { number: number }).number);
}

async function move({ caller, dice, own }: AgentPlace): Promise<void> {
  const { stages } = own.board;
  const stage = dice.weighted({ Backlog: 1, "To do": 1, "In progress": 4, "In review": 4, Done: 4 });
  const sent = { statusId: stages[stage], index: dice.between(0, 3) };
  await caller.write("POST", `/v1/cards/${someCard(dice, own)}/move`, sent);
}

async function patch({ caller, dice, own }: AgentPlace): Promise<void> {
  const sent = {
    title: uniqueText(own, "renamed"),
    ...(dice.chance(0.5) && { priority: dice.pick(["low", "medium", "high"]) }),
    ...(dice.chance(0.5) && { labelIds: own.labels.filter(() => dice.chance(0.3)) }),
    ...(dice.chance(0.2) && { repositoryIds: Object.values(own.board.repositories) }),
  };
  await caller.write("PATCH", `/v1/cards/${someCard(dice, own)}`, sent);
}

async function comment({ caller, dice, own }: AgentPlace): Promise<void> {
  const sent = { body: uniqueText(own, "remark") };
  await caller.write("POST", `/v1/cards/${someCard(dice, own)}/comments`, sent);
}

async function label({ caller, own }: AgentPlace): Promise<void> {
  own.count += 1;
  const sent = { name: `label ${own.count} only-${own.board.owner}`.slice(0, 50) };
  const created = await caller.write("POST", "/v1/labels", sent);
  if (created.status === 201) own.labels.push((created.body as { id: string }).id);
}

async function read({ caller, dice, own }: AgentPlace): Promise<void> {
  const number = someCard(dice, own);
  await caller.get(dice.pick(["/v1/board", "/v1/inbox", `/v1/cards/${number}`, "/v1/releases"]) ?? "");
  await caller.get(`/v1/cards/${number}/timeline`);
}

async function actOnInbox({ caller, dice, own }: AgentPlace): Promise<void> {
  const inbox = await caller.get("/v1/inbox");
  if (inbox.status !== 200) return;
  const item = dice.pick(
    (inbox.body as readonly { id: string; kind: string }[]).filter(
      ({ kind }) => kind === "branch_suggestion",
    ),
  );
  if (!item) return;
  if (dice.chance(0.1)) await caller.write("DELETE", `/v1/inbox/${item.id}`);
  else {
    const card = dice.chance(0.5) ? `?card=${someCard(dice, own)}` : "";
    await caller.write("POST", `/v1/inbox/${item.id}/adopt${card}`);
  }
}

/** Creates a release or changes an existing one. */
async function actOnRelease(place: AgentPlace): Promise<void> {
  const { caller, dice, own } = place;
  const id = dice.pick(own.releases.slice(-3));
  if (id === undefined || dice.chance(0.15)) return createRelease(place);
  const path = `/v1/releases/${id}`;
  const { stages, repositories } = own.board;
  switch (dice.weighted({ freeze: 3, unfreeze: 1, pick: 3, promote: 2, complete: 2 })) {
    case "freeze":
      await caller.write("POST", `${path}/freeze`);
      break;
    case "unfreeze":
      await caller.write("DELETE", `${path}/freeze`);
      break;
    case "pick":
      await caller.write("POST", `${path}/pick`, { taskNumber: dice.pick(own.cards) ?? 1 });
      break;
    case "promote":
      await caller.write("POST", `${path}/promote`, {
        statusId: dice.pick([stages["In progress"], stages["In review"], stages.Done]),
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

async function createRelease({ caller, dice, own }: AgentPlace): Promise<void> {
  const created = await caller.write("POST", "/v1/releases", { name: uniqueText(own, "release") });
  if (created.status !== 201) return;
  const { id } = created.body as { id: string };
  own.releases.push(id);
  const taskNumbers = own.cards.filter(() => dice.chance(0.4));
  await caller.write("PUT", `/v1/releases/${id}/cards`, { taskNumbers });
}

/** Uses an id of another tenant, which must be answered as unknown and change nothing. */
async function useForeignIds(place: AgentPlace): Promise<void> {
  await place.dice.pick(foreignRequests(place))?.();
}

/** Requests with ids of another tenant, of every kind. */
export function foreignRequests({ caller, dice, own, foreign }: AgentPlace): (() => Promise<unknown>)[] {
  if (!foreign) return [];
  const number = someCard(dice, own);
  const { board } = foreign;
  const label = dice.pick(foreign.labels);
  const release = dice.pick(foreign.releases);
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

const someCard = (dice: SeededRandom, { cards }: BoardKnowledge): number => dice.pick(cards) ?? 1;
