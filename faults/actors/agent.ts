import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "../dice.ts";
import { ownText, type BoardKnowledge } from "./board-knowledge.ts";
import type { Caller } from "./caller.ts";
import { actOnRelease } from "./release-acts.ts";

export interface AgentPlace {
  readonly caller: Caller;
  readonly dice: Dice;
  readonly own: BoardKnowledge;
  /** Another tenant's board, whose ids this agent tries now and then. */
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
  intrude: 2,
} as const;

type Act = (place: AgentPlace) => Promise<unknown>;

const ACTS: Readonly<Record<keyof typeof WEIGHTS, Act>> = {
  create: createCard,
  move,
  patch,
  comment,
  label,
  read,
  inbox: actOnInbox,
  release: actOnRelease,
  intrude,
};

/** Does one thing after the other until told to stop. */
export async function runAgent(place: AgentPlace, isOver: () => boolean): Promise<void> {
  await createCard(place);
  while (!isOver()) {
    await ACTS[place.dice.weighted(WEIGHTS)](place);
    await sleep(place.dice.between(0, 150));
  }
}

async function createCard({ caller, dice, own }: AgentPlace): Promise<void> {
  const { stages, repositories } = own.board;
  const sent = {
    title: ownText(own, "card"),
    description: ownText(own, "made as"),
    ...(dice.chance(0.4) && { repositoryIds: Object.values(repositories) }),
    ...(dice.chance(0.3) && { statusId: stages["In progress"] }),
    ...(dice.chance(0.1) && { hotfix: true }),
  };
  const made = await caller.write("POST", "/v1/cards", sent);
  if (made.status === 201) own.cards.push((made.body as { number: number }).number);
}

async function move({ caller, dice, own }: AgentPlace): Promise<void> {
  const { stages } = own.board;
  const stage = dice.weighted({ Backlog: 1, "To do": 1, "In progress": 4, "In review": 4, Done: 4 });
  const sent = { statusId: stages[stage], index: dice.between(0, 3) };
  await caller.write("POST", `/v1/cards/${someCard(dice, own)}/move`, sent);
}

async function patch({ caller, dice, own }: AgentPlace): Promise<void> {
  const sent = {
    title: ownText(own, "renamed"),
    ...(dice.chance(0.5) && { priority: dice.pick(["low", "medium", "high"]) }),
    ...(dice.chance(0.5) && { labelIds: own.labels.filter(() => dice.chance(0.3)) }),
    ...(dice.chance(0.2) && { repositoryIds: Object.values(own.board.repositories) }),
  };
  await caller.write("PATCH", `/v1/cards/${someCard(dice, own)}`, sent);
}

async function comment({ caller, dice, own }: AgentPlace): Promise<void> {
  const sent = { body: ownText(own, "remark") };
  await caller.write("POST", `/v1/cards/${someCard(dice, own)}/comments`, sent);
}

async function label({ caller, own }: AgentPlace): Promise<void> {
  own.count += 1;
  const sent = { name: `label ${own.count} only-${own.board.owner}`.slice(0, 50) };
  const made = await caller.write("POST", "/v1/labels", sent);
  if (made.status === 201) own.labels.push((made.body as { id: string }).id);
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

/** Names a thing of another tenant: there must be no such thing, and nothing of it may change. */
async function intrude(place: AgentPlace): Promise<void> {
  await place.dice.pick(intrusions(place))?.();
}

/** Every way to name things of another tenant. */
export function intrusions({ caller, dice, own, foreign }: AgentPlace): (() => Promise<unknown>)[] {
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

const someCard = (dice: Dice, { cards }: BoardKnowledge): number => dice.pick(cards) ?? 1;
