import { beforeAll, describe, expect, it } from "@jest/globals";
import { deleteOldRows } from "../../src/jobs/tasks.ts";
import { extendChain } from "../../src/store/audit/chain.ts";
import { DEFAULT_RETENTION } from "../../src/store/ops/retention.ts";
import { eventually } from "../support/api.ts";
import { commandLineOf, type CommandLine } from "../support/processes/command-line.ts";
import { readAudit } from "./support/read-audit.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let line: CommandLine;
beforeAll(async () => {
  line = commandLineOf(world);
  board = await world.board();
});

const log = () => world.service.deps.db("audit_log");
const verify = () => line.run(["audit", "verify"]);

/** Resolves when the running service has added all ended attempts to the chain. */
const chained = () =>
  eventually(
    () => log().whereNotNull("ended_at").whereNull("position").count<{ count: number }[]>(),
    ([left]) => left?.count === 0,
  );

interface Row {
  readonly id: string;
  readonly position: number;
}
const rowsInOrder = (): Promise<Row[]> => log().whereNotNull("position").orderBy("position").select("*");

/** Inserts attempts that ended before the service could add them to the chain. */
const insertAttempts = (count: number, ageDays: number) =>
  board.db.raw(
    `insert into audit_log (id, occurred_at, workspace_id, action, targets, ended_at, status)
     select gen_random_uuid(), now() - ? * interval '1 day', ?, 'POST /v1/cards', '{}', now(), 201 from generate_series(1, ?)`,
    [ageDays, board.workspaceId, count],
  );

describe("the chain of the audit log", () => {
  it("has each attempt once, also if several processes extend it", async () => {
    await insertAttempts(1_300, 0);
    await Promise.all([1, 2, 3].map(() => extendChain(board.db)));
    await Promise.all([1, 2, 3].map(() => board.api.card()));
    await chained();
    const rows = await rowsInOrder();
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, at) => at + 1));
    expect(await line.json("audit", "verify")).toMatchObject({ rows: rows.length, position: rows.length });
    const exported = (await line.run(["audit", "export"])).stdout.trim().split("\n");
    expect(exported.map((text) => (JSON.parse(text) as Row).id)).toEqual(rows.map(({ id }) => id));
    expect((await readAudit(board.api)).every(({ hash }) => hash !== null)).toBe(true);
  });

  it.each([
    ["changed", { status: 404 }],
    ["changed", { forge_calls: '[{"method":"merge","ref":"a/b","result":"ok"}]' }],
    ["changed, with its hash", { hash: Buffer.alloc(32) }],
  ])("shows which row was %s: %j", async (_, change) => {
    const [row] = (await rowsInOrder()).slice(700);
    const { position, id, ...content } = row!;
    await log().where({ id }).update(change);
    const { code, stderr } = await verify();
    await log()
      .where({ id })
      .update(Object.fromEntries(Object.keys(change).map((name) => [name, valueOf(content, name)])));
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Row ${position} was changed`)]);
    expect((await verify()).code).toBe(0);
  });

  it.each([
    ["in the middle", 700],
    ["the oldest", 0],
    ["the newest", -1],
  ])("shows which row is missing: %s", async (_, at) => {
    const row = (await rowsInOrder()).at(at)!;
    const { id } = row;
    await board.db.raw("create table deleted as select * from audit_log where id = ?", [id]);
    await log().where({ id }).delete();
    const { code, stderr } = await verify();
    await board.db.raw("insert into audit_log select * from deleted; drop table deleted");
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Row ${row.position} is missing`)]);
    expect((await verify()).code).toBe(0);
  });
});

const valueOf = (content: object, name: string): unknown => {
  const value = (content as Record<string, unknown>)[name];
  return name === "forge_calls" ? JSON.stringify(value) : value;
};
describe("retention", () => {
  it("deletes the oldest rows of the chain, and the rest can be verified", async () => {
    const young = (await rowsInOrder()).length;
    await board.db("audit_log").delete();
    await board.db("audit_chain").update({ head_position: 0, head_hash: Buffer.alloc(0) });
    expect(young).toBeGreaterThan(1_000);
    await insertAttempts(700, 500);
    await chained();
    await board.api.card();
    await chained();
    await insertAttempts(2, 500);
    await chained();
    await deleteOldRows(world.service.deps, DEFAULT_RETENTION);
    // The two old ones after the young one are kept until its time is over.
    expect((await rowsInOrder()).map(({ position }) => position)).toEqual([701, 702, 703]);
    expect(await line.json("audit", "verify")).toMatchObject({ rows: 3, position: 703 });
    await log().where({ position: 701 }).delete();
    expect((await verify()).stderr).toContain("Row 701 is missing");
  });
});

describe("a command that changes something", () => {
  const operator = { id: null, name: "operator", kind: "operator" };

  it("leaves a row with the board and what it changes, without names and keys", async () => {
    const words = ["credential", "issue", "--name", "canary", "--scopes", "read"];
    const { clientId } = await line.json<{ clientId: string }>(
      ...words,
      "--board",
      `${board.workspaceId}:member`,
    );
    await line.run(["credential", "revoke", clientId]);
    const [issued] = (await readAudit(board.api)).slice(-1);
    expect(issued).toMatchObject({
      actor: operator,
      action: "trunkline credential issue",
      targets: { board: `${board.workspaceId}:member` },
      outcome: { status: 0, problem: null },
    });
    const [revoked] = await log().where({ action: "trunkline credential revoke" });
    expect(revoked).toMatchObject({ actor: operator, targets: { id: clientId }, status: 0, problem: null });
    expect(JSON.stringify(await log().select("*"))).not.toContain("canary");
  });

  it("leaves a row when it fails, and none when it only reads", async () => {
    const before = (await log().select("id")).length;
    await line.run(["credential", "list"]);
    expect((await line.run(["credential", "revoke", "unknown00000"])).code).toBe(1);
    const rows = await log().orderBy("occurred_at").select("*");
    expect(rows).toHaveLength(before + 1);
    expect(rows.at(-1)).toMatchObject({ targets: { id: "unknown00000" }, status: 1, problem: "not_found" });
  });
});
