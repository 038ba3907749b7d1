import type { Db } from "../../../src/store/db/connect.ts";
import { eventually } from "../api.ts";
import type { TestWorld } from "../world.ts";

/** The columns that only calls change, of tables where others change by themselves. */
const STABLE: Readonly<Record<string, string>> = {
  events: "t.id::text",
  webhooks: "(t.id, t.url, t.kinds, t.secret, t.paused_reason)::text",
};

/** A hash of each table; equal hashes mean that nothing was written in between. */
export async function databaseContent({ deps }: { readonly deps: { readonly db: Db } }): Promise<object> {
  const { db } = deps;
  // The rows of `instances` change with each heartbeat. Events are numbered and sent after their write.
  // The audit log and the last use change with each call, also with one that changes nothing else.
  const tables = await db.raw<{ rows: { name: string }[] }>(
    "select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('instances', 'feeds', 'webhook_deliveries', 'audit_log', 'audit_chain', 'last_uses') order by 1",
  );
  const hashes = tables.rows.map(
    ({ name }) =>
      `select '${name}' as name, md5(string_agg(${STABLE[name] ?? "t::text"}, ',' order by ${STABLE[name] ?? "t::text"})) as hash from ${name} t`,
  );
  const result = await db.raw<{ rows: { name: string; hash: string | null }[] }>(hashes.join(" union all "));
  return Object.fromEntries(result.rows.map(({ name, hash }) => [name, hash]));
}

/** Waits until all deliveries and jobs of earlier calls are processed. */
export async function settled({ forge, service }: TestWorld): Promise<void> {
  await eventually(
    async () => {
      await forge.waitUntilIdle();
      const { db } = service.deps;
      // Deliveries are stored shortly before their job is added.
      const kept = await db("deliveries").where({ state: "waiting", attempts: 0 }).select("guid");
      const due = await db("graphile_worker.jobs")
        .where("run_at", "<=", db.fn.now())
        .select("task_identifier");
      return [...kept, ...due];
    },
    ({ length }) => length === 0,
  );
}
