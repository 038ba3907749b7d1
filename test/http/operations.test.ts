import { beforeAll, describe, expect, it } from "@jest/globals";
import { armed, requireCi } from "../armed/support/armed-cards.ts";
import type { Api } from "../support/api.ts";
import { freeze, makeRelease, promote } from "../support/stories/releases.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly subject: { readonly number?: number; readonly id?: string } | null;
  readonly state: string;
  readonly by: { readonly id: string };
  readonly progress: { readonly done: number; readonly total: number | null } | null;
  readonly startedAt: string;
}

const world = useWorld();
/** Its first card is merged, its second was refused, armed and refused; its release was promoted and frozen. */
let board: TestBoard;
let viewer: Api;
let merged: { readonly number: number };
let refused: { readonly number: number };
let releaseId: string;
beforeAll(async () => {
  board = await world.board();
  viewer = await board.as({ role: "viewer" });
  merged = await cardWithCommit(board);
  await board.api.move(merged.number, board.stages.Done);
  await requireCi(board);
  const { number } = await cardWithCommit(board);
  await board.api.move(number, board.stages.Done);
  await armed(board, number);
  refused = { number };
  releaseId = await makeRelease(board.api, "1.4", [merged.number, number]);
  await promote(board.api, releaseId, { statusId: board.stages.Done });
  await freeze(board.api, releaseId);
});

const list = async (query = ""): Promise<Listed[]> =>
  (await viewer.get<Listed[]>(`/v1/operations${query}`)).body;
const shown = ({ kind, subject, state }: Listed) => [kind, subject?.number ?? subject?.id, state];

describe("GET /v1/operations", () => {
  it("shows the newest first, of moves and releases", async () => {
    const found = await list();
    expect(found.slice(0, 2).map(shown)).toEqual([
      ["freeze", releaseId, "done"],
      ["move", refused.number, "refused"],
    ]);
    const times = found.map(({ startedAt }) => startedAt);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(found.every(({ by }) => by.id === found[0]?.by.id)).toBe(true);
  });

  it("shows the progress of moves and promotions", async () => {
    const [landed] = await list(`?card=${merged.number}&limit=1`);
    expect(landed).toMatchObject({ kind: "move", state: "done", progress: { done: 1, total: null } });
    const found = await list();
    const promotion = found.find(({ kind }) => kind === "promote");
    expect(promotion).toMatchObject({
      subject: { id: releaseId },
      state: "done",
      progress: { done: 2, total: 2 },
    });
    expect(found[0]?.progress).toBeNull();
  });

  it("has an armed move under its id, in the state waiting until it ends", async () => {
    const { number } = await cardWithCommit(board);
    const { id } = await armed(board, number);
    const find = async (state: string) =>
      (await list(`?state=${state}&card=${number}`)).map((each) => each.id);
    expect(await find("waiting")).toEqual([id]);
    expect((await board.api.delete(`/v1/cards/${number}/armed`)).status).toBe(204);
    expect([await find("waiting"), await find("abandoned")]).toEqual([[], [id]]);
  });

  it("has only operations of the requested state and card", async () => {
    const ofCard = await list(`?card=${merged.number}`);
    expect(new Set(ofCard.map(({ subject }) => subject?.number))).toEqual(new Set([merged.number]));
    const found = await list(`?state=refused&card=${refused.number}`);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found.map(({ state }) => state))).toEqual(new Set(["refused"]));
    expect((await viewer.get("/v1/operations?card=999")).status).toBe(404);
    expect((await viewer.get("/v1/operations?state=armed")).status).toBe(400);
  });

  it("has nothing of another board", async () => {
    const other = await world.board();
    expect((await other.api.get("/v1/operations")).body).toEqual([]);
  });
});
