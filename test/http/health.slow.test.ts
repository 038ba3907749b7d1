import { readFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { allCalls } from "../support/routes.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();

const get = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`${world.service.baseUrl}${path}`, init);

interface Readiness {
  readonly status: string;
  readonly checks: readonly { name: string; ok: boolean; message: string }[];
}

async function readiness(): Promise<Readiness & { readonly code: number; readonly bad: readonly string[] }> {
  const result = await get("/readyz");
  const body = (await result.json()) as Readiness;
  const bad = body.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  return { ...body, code: result.status, bad };
}

/** The readiness once these checks fail. Results of the database are cached for a second. */
const readinessWith = (...bad: string[]) =>
  eventually(readiness, (found) => String(found.bad) === String(bad));

describe("/readyz", () => {
  it("is 200 with the name of each check while all succeed", async () => {
    const { code, status, checks } = await readiness();
    expect([code, status]).toEqual([200, "ready"]);
    expect(checks.map(({ name }) => name)).toEqual(["app_key", "disk", "database", "migrations", "queue"]);
    expect((await get("/readyz")).headers.get("cache-control")).toBe("no-store");
  });

  it("is 503 and names the migration while one is pending", async () => {
    const { db } = world.service.deps;
    const [last] = (await db("knex_migrations").orderBy("id", "desc").limit(1)) as { name: string }[];
    await db("knex_migrations").where({ name: last?.name }).delete();
    const { code, status, checks } = await readinessWith("migrations");
    await db("knex_migrations").insert({ ...last });
    expect([code, status]).toEqual([503, "not ready"]);
    expect(checks.at(-1)?.message).toContain(last?.name);
  });

  it("is 200 and reports due jobs that no worker processes, but not jobs scheduled for later", async () => {
    const { db } = world.service.deps;
    // No worker has a task of this name.
    const add = (at: string) =>
      db.raw(`select graphile_worker.add_job('nobody-does-this', run_at := now() ${at}, job_key := 'left')`);
    await add("- interval '1 hour'");
    const { code, status, checks } = await readinessWith("queue");
    expect([code, status]).toEqual([200, "ready"]);
    expect(checks.at(-1)?.message).toContain("No worker processes them");
    await add("+ interval '1 hour'");
    await readinessWith();
    await db.raw("select graphile_worker.remove_job('left')");
  });

  it("is 503 without the database's address if the database refuses queries", async () => {
    const { db } = world.service.deps;
    await db.raw("alter table deliveries rename to elsewhere");
    await readinessWith("database");
    const result = await get("/readyz");
    await db.raw("alter table elsewhere rename to deliveries");
    expect(result.status).toBe(503);
    const text = await result.text();
    expect(text).toContain("The database refuses queries.");
    expect(text).not.toContain(new URL(world.databaseUrl).pathname.slice(1));
    expect((await get("/healthz")).status).toBe(200);
    await readinessWith();
  });

  it("queries the database at most once per second, however many calls arrive", async () => {
    const { db } = world.service.deps;
    const queries: number[] = [];
    const count = ({ sql }: { sql: string }): void => {
      if (/from "knex_migrations"/.test(sql)) queries.push(performance.now());
    };
    db.on("query", count);
    await eventually(
      async () => {
        const results = await Promise.all(Array.from({ length: 20 }, () => get("/readyz")));
        expect(results.every(({ status }) => status === 200)).toBe(true);
        return queries;
      },
      ({ length }) => length >= 3,
    );
    db.removeListener("query", count);
    const [first = 0, second = 0, third = 0] = queries;
    expect(queries).toHaveLength(3);
    expect(Math.min(second - first, third - second)).toBeGreaterThanOrEqual(1_000);
  });
});

describe("GET /", () => {
  const call = (accept: string) =>
    fetch(`${world.service.baseUrl}/`, { headers: { accept }, redirect: "manual" });

  it.each(["*/*", "application/json"])(
    "describes the service to a client that accepts %s",
    async (accept) => {
      const response = await call(accept);
      const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
      expect(response.status).toBe(200);
      expect(response.headers.get("vary")).toBe("Accept");
      expect(await response.json()).toEqual({
        name: "Trunkline",
        version,
        message: "A work board whose cards own Git branches. Read the API reference at /docs.",
        docs: "/docs",
        openapi: "/v1/openapi.json",
      });
    },
  );
});

describe("every response", () => {
  const addresses = ["/healthz", "/readyz", "/metrics", "/docs", "/v1/openapi.json", "/nowhere"];

  it.each([...addresses.map((path) => ["GET", path]), ...allCalls.map(({ method, path }) => [method, path])])(
    "to %s %s has the headers that make it safe in a browser",
    async (method = "GET", path = "/") => {
      const { headers } = await get(path, { method });
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("x-powered-by")).toBeNull();
      expect(headers.get("access-control-allow-origin")).toBeNull();
      expect(headers.get("x-request-id")).not.toBeNull();
    },
  );
});

describe("a request", () => {
  /** The response to these bytes. */
  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(world.service.baseUrl);
      const socket = connectSocket(Number(port), hostname);
      let text = "";
      socket.on("data", (data) => (text += data.toString()));
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
      socket.end(bytes);
    });

  it.each([
    ["with more than 16 KiB of headers is 431", `X-Large: ${"x".repeat(17_000)}\r\n`, "431"],
    ["with two lengths is 400", "Content-Length: 1\r\nContent-Length: 2\r\n", "400"],
    ["with a length and chunks is 400", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "400"],
  ])("%s", async (_, headers, status) => {
    const result = await raw(`POST /v1/cards HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
    expect(result).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it("with the longest URL that fits gets a response", async () => {
    expect((await get(`/healthz?${"x".repeat(8_000)}`)).status).toBe(200);
  });
});
