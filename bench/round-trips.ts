import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Call } from "./load.ts";
import { atMost, median, report, type Measurement } from "./report.ts";
import { issueBoardCredential, type BenchBoard } from "./seed.ts";
import { auth, WRITES } from "./workloads.ts";
import { startService, type BenchWorld } from "./world.ts";

/** The time for the repairs that a service runs at its start. */
const STARTUP_MS = 3_000;
/** The delay of responses. Statements sent within it are one round trip. */
const DELAY_MS = 5;
/** ReadyForQuery, the last message of a response, up to the state of the transaction. */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5]);
/** The pool that serves the calls. Jobs have their own. */
const CALLS_POOL = "application_name\0trunkline\0";
const REPEATS = 9;

interface CountingProxy {
  readonly connectionString: string;
  readonly count: () => number;
}

/**
 * Starts a proxy to PostgreSQL that counts the round trips of the pool for calls: how often a
 * connection sends something after PostgreSQL has responded to everything before. The proxy delays
 * responses, so that statements sent together count together.
 */
async function startProxy({ connectionString, cleanups }: BenchWorld): Promise<CountingProxy> {
  const { host, port, user, password, database } = new Client({ connectionString });
  const sockets = new Set<Socket>();
  let count = 0;
  const proxy = createServer((service) => {
    const postgres = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    let isCounted = false;
    let isReady = false;
    let end = Buffer.alloc(0);
    service.once("data", (startup) => {
      isCounted = startup.includes(CALLS_POOL);
    });
    service.on("data", (bytes) => {
      if (isCounted && isReady) count++;
      isReady = false;
      postgres.write(bytes);
    });
    postgres.on("data", (bytes) => {
      setTimeout(() => {
        end = Buffer.concat([end, bytes.subarray(-6)]).subarray(-6);
        isReady = end.subarray(0, 5).equals(READY_FOR_QUERY);
        service.write(bytes);
      }, DELAY_MS);
    });
    for (const [socket, other] of [
      [service, postgres],
      [postgres, service],
    ] as const) {
      sockets.add(socket);
      // Otherwise the kernel holds small responses back for 40 ms, and work in the background is counted.
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => other.destroy());
    }
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const url = new URL(`postgresql://127.0.0.1:${(proxy.address() as AddressInfo).port}/${database}`);
  url.username = user ?? "";
  url.password = password ?? "";
  return { connectionString: url.href, count: () => count };
}

/** Counts round trips per call. The median, because heartbeats run at the same time. */
export async function measureRoundTrips(world: BenchWorld, board: BenchBoard): Promise<Measurement[]> {
  const proxy = await startProxy(world);
  const service = await startService(world, proxy.connectionString);
  // Repairs at startup use the same pool.
  await sleep(STARTUP_MS);
  const roundTrips = async ({ method, path, headers, body }: Call): Promise<number> => {
    const before = proxy.count();
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        ...headers,
        "content-type": "application/json",
        ...(body !== undefined && { "idempotency-key": randomUUID() }),
      },
      body: body ?? null,
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${method} ${path} got the response ${response.status}.`);
    return proxy.count() - before;
  };
  const measure = async (name: string, most: number, makeCall: () => Promise<Call>): Promise<Measurement> => {
    const counts: number[] = [];
    // The first call opens connections and fills caches.
    for (let nth = 0; nth <= REPEATS; nth++) counts.push(await roundTrips(await makeCall()));
    return report({ name: `round trips of ${name}`, value: median(counts.slice(1)), goal: atMost(most) });
  };
  const measurements: Measurement[] = [];
  for (const [name, path] of [
    ["board", "/v1/board"],
    ["card", "/v1/cards/1"],
  ] as const) {
    const known = { method: "GET", path, headers: auth(board) } as const;
    measurements.push(await measure(name, 1, async () => known));
    const withNew = async (): Promise<Call> => ({
      ...known,
      headers: auth(await issueBoardCredential(world.db, board.workspaceId)),
    });
    measurements.push(await measure(`${name}, new credential`, 2, withNew));
  }
  for (const [name, { method, path, bodies }] of Object.entries(WRITES)) {
    const [body] = bodies(board);
    let title = 0;
    measurements.push(
      await measure(name, 5, async () => ({
        method,
        path: path(++title),
        headers: auth(board),
        body: JSON.stringify(body),
      })),
    );
  }
  await service.stop();
  return measurements;
}
