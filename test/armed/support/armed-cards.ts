import { expect } from "@jest/globals";
import type {
  Api,
  ApiResponse,
  ApiCard,
  CallOptions,
  MoveResponse,
  TimelineEvent,
} from "../../support/api.ts";
import { eventually } from "../../support/api.ts";
import { itemsOf } from "../../support/inbox.ts";
import { protect, reportStatus } from "../../support/stories/repairing.ts";
import { cardWithCommit, type WorkedCard } from "../../support/stories/work-on-card.ts";
import type { TestBoard } from "../../support/world.ts";

export interface Armed {
  readonly id: string;
  readonly statusId: string;
  readonly by: { readonly name: string };
  readonly expiresAt: string;
  readonly heads: readonly { readonly fullName: string; readonly sha: string }[];
  readonly waitingFor: readonly { readonly reason: string; readonly message: string }[];
}

export type ArmResponse = ApiResponse<MoveResponse & { readonly armed?: Armed }>;

/** Calls a move that may wait. */
export const arm = (
  { stages }: TestBoard,
  api: Api,
  number: number,
  { whenReady = {}, ...body }: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<ArmResponse> =>
  api.post(`/v1/cards/${number}/move`, { statusId: stages.Done, index: 0, whenReady, ...body }, options);

/** Arms the move of a card into the last stage. */
export async function armed(
  board: TestBoard,
  number: number,
  body: Readonly<Record<string, unknown>> = {},
  api: Api = board.api,
): Promise<Armed> {
  const response = await arm(board, api, number, body);
  if (response.status !== 202 || !response.body.armed)
    throw new Error(`the move is not armed: ${response.text}`);
  return response.body.armed;
}

export const armedOf = async (api: Api, number: number): Promise<Armed | undefined> =>
  ((await api.readCard(number)) as ApiCard & { readonly armed?: Armed }).armed;

/** Makes `main` require the check `ci`. */
export async function requireCi(board: TestBoard): Promise<void> {
  const { status } = await protect(board, { required_status_checks: { strict: false, contexts: ["ci"] } });
  if (status !== 200) throw new Error(`main is not protected: ${status}`);
}

/** A board whose `main` requires the check `ci`, with a card in review and its armed move. */
export async function armedCard(
  board: TestBoard,
  body: Readonly<Record<string, unknown>> = {},
): Promise<WorkedCard & { readonly armed: Armed }> {
  await requireCi(board);
  const card = await cardWithCommit(board);
  return { ...card, armed: await armed(board, card.number, body) };
}

export const passCi = (board: TestBoard, sha: string): Promise<unknown> =>
  reportStatus(board, sha, "success");

/** The parents of the merges on `main`, except the first: what was merged. */
export async function mergedHeads(board: TestBoard, repository = "web"): Promise<string[]> {
  const clone = await board.clone("ada", repository);
  const lines = (await clone.git("log", "--merges", "--format=%P", "origin/main")).split("\n");
  await clone.remove();
  return lines.filter(Boolean).map((parents) => parents.split(" ")[1] ?? "");
}

/** Waits until the card is in the last stage, by one merge of the head. */
export async function expectLanded(board: TestBoard, number: number, sha: string): Promise<void> {
  await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  expect(await mergedHeads(board)).toEqual([sha]);
  expect(await armedOf(board.api, number)).toBeUndefined();
  const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "pull_request_merged")).toHaveLength(1);
  expect(kinds.filter((kind) => kind === "disarmed")).toEqual([]);
  expect(await itemsOf(board.api, "move_disarmed")).toEqual([]);
}

/** Waits until the move is disarmed for a reason. The card stays in review, and nothing is merged. */
export async function expectDisarmed(
  board: TestBoard,
  number: number,
  reason: string,
  { isAnnounced = true }: { readonly isAnnounced?: boolean } = {},
): Promise<TimelineEvent> {
  const event = await board.api.eventWhen(number, ({ kind }) => kind === "disarmed");
  expect(event.data).toMatchObject({ reason, statusId: board.stages.Done });
  expect(await armedOf(board.api, number)).toBeUndefined();
  expect((await board.api.readCard(number)).statusId).toBe(board.stages["In review"]);
  expect(await mergedHeads(board)).toEqual([]);
  const items = await itemsOf(board.api, "move_disarmed");
  expect(items.map(({ card, data }) => [card?.number, data["reason"]])).toEqual(
    isAnnounced ? [[number, reason]] : [],
  );
  return event;
}

/** As if the head had been pushed, and the move armed, so many seconds earlier. */
export async function ageBy(board: TestBoard, number: number, seconds: number): Promise<void> {
  const { id } = await board.api.readCard(number);
  const at = board.db.raw("at - ? * interval '1 second'", [seconds]);
  await board.db("timeline_items").where({ card_id: id, kind: "pushed" }).update({ at });
  const created_at = board.db.raw("created_at - ? * interval '1 second'", [seconds]);
  await board.db("armed_moves").where({ card_id: id }).update({ created_at });
}

/** Waits for an armed move that waits for these reasons. */
export const waitsFor = (api: Api, number: number, ...reasons: string[]): Promise<Armed | undefined> =>
  eventually(
    () => armedOf(api, number),
    (found) => found?.waitingFor.map(({ reason }) => reason).join() === reasons.join(),
  );
