import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { eventually } from "../support/api.ts";
import { startBalancer, type Balancer } from "../support/processes/balancer.ts";
import { expectConsistent } from "../support/invariants.ts";
import { shipService, type Shipped, type ShippedProcess } from "../support/processes/shipped-service.ts";
import { runCardToDone } from "../support/stories/run-card.ts";
import { startSurroundings, type Surroundings } from "./support/surroundings.ts";

const CARDS = 6;
/** The writes to the forge at which a process dies while it waits for the response. */
const DEATHS = [8, 26];
const LONG = 300_000;

let shipped: Shipped;
let surroundings: Surroundings;
let balancer: Balancer;
const processes: ShippedProcess[] = [];
beforeAll(async () => {
  [shipped, surroundings] = await Promise.all([shipService(), startSurroundings()]);
  // Both start on an empty database: one migrates, the other waits.
  processes.push(...(await Promise.all([shipped.start(surroundings), shipped.start(surroundings)])));
  balancer = await startBalancer(processes.map(({ baseUrl }) => baseUrl));
  surroundings.forge.setWebhookUrl(`${balancer.url}${WEBHOOK_PATH}`);
}, LONG);
afterAll(async () => {
  for (const service of processes) await service.kill();
  await balancer.stop();
  await surroundings.stop();
  await shipped.remove();
}, LONG);

// Fault: A8
// Fault: A11 Two processes crash in turn under load => nothing is lost or done twice
it(
  `nothing is lost or repeated when two processes die in turn during ${CARDS} cards' lives`,
  async () => {
    const { forge, db } = surroundings;
    const board = await surroundings.board(balancer.url);
    let writes = 0;
    const crashes: Promise<void>[] = [];
    const killAndRestart = async (at: number): Promise<void> => {
      const dying = processes[at];
      if (!dying) throw new Error("unknown process");
      await dying.kill();
      processes[at] = await shipped.start({ ...surroundings, port: Number(new URL(dying.baseUrl).port) });
    };
    forge.control.observe({
      onResponse: ({ method, path }) => {
        if (method === "GET" || path.includes("access_tokens")) return;
        writes += 1;
        const at = DEATHS.indexOf(writes);
        if (at >= 0) crashes.push(killAndRestart(at));
      },
    });

    const numbers = await Promise.all(
      Array.from({ length: CARDS }, (_, index) => runCardToDone(board, index)),
    );
    await Promise.all(crashes);
    expect(crashes).toHaveLength(DEATHS.length);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: CARDS }, (_, at) => at + 1));

    await eventually(
      () => db("deliveries").whereNot({ state: "done" }).select("guid", "event", "state", "error"),
      ({ length }) => length === 0,
    );
    await expectConsistent(surroundings, board);
    for (const number of numbers) {
      const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
      for (const kind of [
        "created",
        "branch_created",
        "pushed",
        "pull_request_opened",
        "pull_request_merged",
      ]) {
        expect([number, kind, kinds.filter((each) => each === kind).length]).toEqual([number, kind, 1]);
      }
      expect(kinds.filter((kind) => kind === "status_changed")).toHaveLength(3);
    }
    const pulls = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls?state=all&per_page=100`);
    expect(pulls.body).toHaveLength(CARDS);
    const commits = await board.person(
      "ada",
      "GET",
      `/repos/${board.owner}/web/commits?sha=main&per_page=100`,
    );
    const merges = (commits.body as unknown as { parents: unknown[] }[]).filter(
      ({ parents }) => parents.length === 2,
    );
    expect(merges).toHaveLength(CARDS);
    // No job remains locked by a dead worker. One of the timetable has a single attempt, so the
    // next one replaces it.
    await eventually(
      () =>
        db("graphile_worker._private_jobs")
          .where("run_at", "<=", db.fn.now())
          .whereRaw("(locked_at is not null or attempts < max_attempts)")
          .select("key", "last_error"),
      ({ length }) => length === 0,
    );
  },
  LONG,
);
