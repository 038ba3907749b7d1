import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { freePorts } from "../support/free-ports.ts";
import {
  environmentOf,
  shipService,
  type Shipped,
  type ShippedProcess,
} from "../support/processes/shipped-service.ts";
import type { TestBoard } from "../support/world.ts";
import { startSurroundings, type Surroundings } from "./support/surroundings.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";

let shipped: Shipped;
beforeAll(async () => {
  shipped = await shipService();
});
afterAll(() => shipped.remove());

let surroundings: Surroundings;
const started: ShippedProcess[] = [];
beforeEach(async () => {
  surroundings = await startSurroundings();
});
afterEach(async () => {
  for (const service of started.splice(0)) await service.kill();
  await surroundings.stop();
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<ShippedProcess> {
  const service = await shipped.start({ ...surroundings, env });
  started.push(service);
  surroundings.forge.setWebhookUrl(`${service.baseUrl}${WEBHOOK_PATH}`);
  return service;
}

/** Starts the next process at the address of the previous one. */
async function startNext({ baseUrl }: ShippedProcess): Promise<void> {
  started.push(await shipped.start({ ...surroundings, port: Number(new URL(baseUrl).port) }));
}

/** The outcome of a call on a new connection. */
const callOnce = (
  { baseUrl }: Pick<ShippedProcess, "baseUrl">,
  path = "/healthz",
): Promise<number | "refused"> =>
  fetch(`${baseUrl}${path}`, { headers: { connection: "close" } }).then(
    ({ status }) => status,
    () => "refused",
  );

const said = (service: ShippedProcess): string[] => service.logged().map(({ msg }) => msg);

interface InFlight {
  readonly board: TestBoard;
  readonly number: number;
  readonly key: string;
  readonly response: Promise<{ readonly status: number } | "cut off">;
  /** Releases the lock. */
  readonly release: () => Promise<void>;
}

/** A lock on the timeline stops a move after its branch was created, and the job of its webhook. */
async function moveInFlight(service: ShippedProcess): Promise<InFlight> {
  const { db } = surroundings;
  const board = await surroundings.board(service.baseUrl);
  const { number } = await board.api.card({ title: "In flight" });
  const held = await beginTransaction(db);
  await held.raw("lock table timeline_items in exclusive mode");
  const key = randomUUID();
  const response = board.api
    .move(number, board.stages["In progress"], 0, { key })
    .catch(() => "cut off" as const);
  await eventually(
    () => db("pg_locks").where({ granted: false }).whereRaw("relation = 'timeline_items'::regclass"),
    ({ length }) => length > 0,
  );
  return { board, number, key, response, release: () => held.commit().then(() => undefined) };
}

// Fault: A9 SIGTERM during calls and jobs => current work finishes; exit code 0
describe("the service as it is shipped", () => {
  it("finishes running calls and jobs after SIGTERM, accepts no connections, and exits with 0", async () => {
    const service = await start();
    const { board, number, response, release } = await moveInFlight(service);

    service.child.kill("SIGTERM");
    await eventually(
      () => callOnce(service),
      (outcome) => outcome === "refused",
    );
    expect(service.child.exitCode).toBeNull();
    await release();

    expect(await response).toMatchObject({ status: 200 });
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(service.logged()).toContainEqual(
      expect.objectContaining({ msg: "shutdown requested", signal: "SIGTERM" }),
    );
    expect(said(service).at(-1)).toMatch(/^shutdown complete: /);
    expect(service.wrote()).not.toContain('"level":50');
    const { db } = surroundings;
    expect(await db("instances").select()).toEqual([]);
    const [card] = await db("cards as c")
      .join("stages as s", "s.id", "c.stage_id")
      .where({ "c.workspace_id": board.workspaceId, "c.number": number })
      .select("s.name");
    expect(card).toEqual({ name: "In progress" });
    expect(await db("graphile_worker._private_jobs").whereNotNull("locked_at")).toEqual([]);
    await startNext(service);
    await expectConsistent(surroundings, board);
  });

  it("finishes its work after SIGTERM while it still reads the installations from GitHub", async () => {
    const match = { method: "GET", path: "/app/installations" };
    const call = holdCalls(surroundings, match, "before");
    const [port = 0] = await freePorts(1);
    const child = spawn(process.execPath, ["dist/src/main.js"], {
      cwd: shipped.dir,
      env: { PATH: process.env["PATH"], ...environmentOf({ ...surroundings, port }) },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    const service = { baseUrl: `http://127.0.0.1:${port}` };
    await eventually(
      () => callOnce(service, "/readyz"),
      (outcome) => outcome === 200,
    );
    await call.arrived();
    child.kill("SIGTERM");
    await eventually(
      () => callOnce(service),
      (outcome) => outcome === "refused",
    );
    call.resume();
    expect(await ended).toEqual([0, null]);
  });

  it("accepts calls until load balancers have noticed, and none after a second SIGTERM", async () => {
    const service = await start({ DRAIN_SECONDS: "300" });
    const board = await surroundings.board(service.baseUrl);
    service.child.kill("SIGTERM");
    await eventually(
      () => callOnce(service, "/readyz"),
      (outcome) => outcome === 503,
    );
    expect((await board.api.get("/v1/me")).status).toBe(200);
    expect(service.child.exitCode).toBeNull();

    service.child.kill("SIGTERM");
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(said(service).at(-1)).toMatch(/^shutdown complete: /);
  });

  it("killed during its shutdown, leaves a move that the next process finishes once", async () => {
    const service = await start();
    const { board, number, key, response, release } = await moveInFlight(service);
    service.child.kill("SIGTERM");
    await eventually(
      () => callOnce(service),
      (outcome) => outcome === "refused",
    );
    await service.kill();
    expect(await service.ended).toMatchObject({ signal: "SIGKILL" });
    await release();
    expect(await response).toBe("cut off");

    await startNext(service);
    await eventually(
      () => board.api.move(number, board.stages["In progress"], 0, { key }),
      ({ status }) => status === 200,
    );
    const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(kinds).toEqual(["created", "branch_created", "status_changed"]);
    const { body } = await board.person("ada", "GET", `/repos/${board.owner}/web/branches`);
    expect((body as unknown as { name: string }[]).map(({ name }) => name).toSorted()).toEqual([
      `card/${number}-in-flight`,
      "main",
    ]);
    await expectConsistent(surroundings, board);
  });
});
