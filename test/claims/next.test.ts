import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "@jest/globals";
import type { Api } from "../support/api.ts";
import { claimed, claimNext } from "./support/claim-calls.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let agent: Api;
beforeEach(async () => {
  board = await world.board();
  agent = await board.as({ role: "member" });
});

const newCard = async (fields: object = {}): Promise<number> =>
  (await board.api.card({ repositoryIds: [], ...fields })).number;

describe("POST /v1/claims/next", () => {
  const next = async (fields: object = {}): Promise<number | null> => {
    const { status, body } = await claimNext(await board.as({ role: "member" }), fields);
    if (status !== 200 && status !== 204) throw new Error(body.message);
    return status === 204 ? null : body.card.number;
  };

  it("claims the first free card in the order of the columns", async () => {
    const { stages } = board;
    await newCard();
    await newCard({ statusId: stages.Done });
    const third = await newCard({ statusId: stages["In progress"] });
    const second = await newCard({ statusId: stages["To do"] });
    const first = await newCard({ statusId: stages["To do"] });
    await board.api.move(first, stages["To do"], 0);
    const { body } = await claimNext(agent, { note: "Next" });
    expect(body).toMatchObject({
      card: { number: first, position: 0, claim: { generation: 1, note: "Next" } },
      claim: { generation: 1, claimId: expect.any(String) },
    });
    expect([await next(), await next(), await next()]).toEqual([second, third, null]);
  });

  it("leaves out blocked cards and those of others, but not the caller's own", async () => {
    const statusId = board.stages["To do"];
    const members = (await agent.get<{ id: string; name: string }[]>("/v1/members")).body;
    const { holder } = await claimed(agent, await newCard());
    const stranger = members.find(({ id }) => id !== holder.id)?.id;
    const blocked = await newCard({ statusId });
    await board
      .db("cards")
      .where({ number: blocked, workspace_id: board.workspaceId })
      .update({ blocked: "{}" });
    await newCard({ statusId, assigneeId: stranger });
    const own = await newCard({ statusId, assigneeId: holder.id });
    expect(await next()).toBeNull();
    expect((await claimNext(agent)).body.card.number).toBe(own);
    await board
      .db("cards")
      .where({ number: blocked, workspace_id: board.workspaceId })
      .update({ blocked: null });
  });

  it("chooses by stage, project and labels, also in the backlog", async () => {
    const { stages, projectId } = board;
    const draft = await newCard();
    const label = async (name: string) =>
      (await board.api.post<{ id: string }>("/v1/labels", { name })).body.id;
    const [red, small] = [await label("red"), await label("small")];
    await newCard({ statusId: stages["To do"], labelIds: [red] });
    const both = await newCard({ statusId: stages["In progress"], labelIds: [small, red] });
    const other = (await board.api.post<{ id: string }>("/v1/projects", { name: "Other" })).body.id;
    expect(await next({ projectId: other })).toBeNull();
    expect(await next({ projectId, labels: [red, small] })).toBe(both);
    expect(await next({ statusId: stages.Backlog })).toBe(draft);
    expect(await next({ statusId: stages.Done })).toBeNull();
    expect((await claimNext(agent, { labels: [randomUUID()] })).status).toBe(404);
  });

  it("is refused with `claim_limit` for a credential that has three claims", async () => {
    for (let times = 0; times < 4; times++) await newCard({ statusId: board.stages["To do"] });
    for (let times = 0; times < 3; times++) expect((await claimNext(agent)).status).toBe(200);
    expect(await claimNext(agent)).toMatchObject({ status: 409, body: { code: "claim_limit" } });
  });

  it("does not wait for a card that another call is claiming", async () => {
    const first = await newCard({ statusId: board.stages["To do"] });
    const second = await newCard({ statusId: board.stages["To do"] });
    const { id } = await board.api.readCard(first);
    await board.db.transaction(async (trx) => {
      await trx("claims").where({ card_id: id }).forUpdate();
      expect(await next()).toBe(second);
    });
    expect(await next()).toBe(first);
  });
});
