import { beforeAll, describe, expect, it } from "@jest/globals";
import type { Api } from "../support/api.ts";
import { clientIdOf, readAudit, type AuditEntry } from "./support/read-audit.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let agent: Api;
beforeAll(async () => {
  board = await world.board();
  agent = await board.as({ role: "member" });
  for (const title of ["One", "Two", "Three"]) await board.api.card({ title });
  await agent.post("/v1/cards", { title: "" });
  await agent.post("/v1/cards", { title: "Four" });
  await agent.post("/v1/webhooks", { url: "https://hooks.example.com/" });
});

const read = (query: string): Promise<AuditEntry[]> => readAudit(board.api, `?${query}`);
const idsOf = (entries: readonly AuditEntry[]): string[] => entries.map(({ id }) => id);

/** The cursor of the next page; empty on the last one. */
async function cursorAfter(query: string): Promise<string> {
  const { headers } = await board.api.get(`/v1/audit?${query}`);
  return /<[^>]*cursor=([^>&]+)[^>]*>; rel="next"/.exec(headers.get("link") ?? "")?.[1] ?? "";
}

async function pagesOf(query: string): Promise<AuditEntry[][]> {
  const pages = [await read(query)];
  for (let cursor = await cursorAfter(query); cursor !== "";) {
    const next = `${query}&cursor=${cursor}`;
    pages.push(await read(next));
    cursor = await cursorAfter(next);
  }
  return pages;
}

describe("the audit log", () => {
  it("returns only attempts that fit all filters", async () => {
    const byAgent = await read(`credential=${clientIdOf(agent)}`);
    expect(byAgent.map(({ outcome }) => outcome.status)).toEqual([400, 201, 403]);
    const [first] = byAgent;
    expect(idsOf(await read(`actor=${first?.actor?.id}`))).toEqual(idsOf(byAgent));
    expect(idsOf(await read(`actor=${first?.actor?.id}&outcome=success`))).toEqual([byAgent[1]?.id]);
    expect(idsOf(await read(`outcome=failure`))).toEqual([byAgent[0]?.id, byAgent[2]?.id]);
    expect(idsOf(await read(`action=WEBHOOKS`))).toEqual([byAgent[2]?.id]);
    expect(idsOf(await read("action=POST /v1/webhooks"))).toEqual([byAgent[2]?.id]);
    expect(await read("action=POST /v1/web")).toEqual([]);
    expect(await read("action=%25")).toEqual([]);
    expect(await read("credential=nobody")).toEqual([]);
  });

  it("is sorted by time, the oldest or the newest first", async () => {
    const all = await read("");
    expect(all.length).toBeGreaterThanOrEqual(6);
    expect(idsOf(await read("order=desc"))).toEqual(idsOf(all).toReversed());
  });

  it.each(["asc", "desc"])("is returned in pages, order %s, without repeats or gaps", async (order) => {
    const all = await read(`order=${order}&action=cards`);
    const pages = await pagesOf(`order=${order}&action=cards&limit=2`);
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(idsOf(pages.flat())).toEqual(idsOf(all));
  });

  it("continues without a limit where a page ended", async () => {
    const all = await read("order=desc");
    const cursor = await cursorAfter("order=desc&limit=2");
    expect(idsOf(await read(`order=desc&cursor=${cursor}`))).toEqual(idsOf(all).slice(2));
  });

  it("refuses values that mean nothing, with what is valid", async () => {
    const cursor = (key: unknown) => Buffer.from(JSON.stringify(["/v1/audit", key])).toString("base64url");
    for (const query of [
      "limit=0",
      "limit=201",
      "actor=ada",
      "outcome=maybe",
      "order=down",
      "action=",
      "cursor=x",
      `cursor=${cursor(["now", "019a0000-0000-7000-8000-000000000000"])}`,
      `cursor=${cursor(["1", "x"])}`,
      "person=ada",
    ]) {
      const { status, text } = await board.api.get(`/v1/audit?${query}`);
      expect([query, status, text]).toEqual([query, 400, expect.stringContaining("query.")]);
    }
  });

  it("accepts the farthest cursors", async () => {
    const cursor = (micros: string) =>
      Buffer.from(JSON.stringify(["/v1/audit", [micros, "019a0000-0000-7000-8000-000000000000"]])).toString(
        "base64url",
      );
    expect(await read(`cursor=${cursor("9".repeat(16))}`)).toEqual([]);
    expect((await read(`cursor=${cursor("0")}`)).length).toBeGreaterThan(0);
  });

  it("never has attempts of another board", async () => {
    const theirs = await world.board();
    await theirs.api.card();
    const [foreign] = await readAudit(theirs.api);
    expect(await read(`actor=${foreign?.actor?.id}`)).toEqual([]);
  });
});
