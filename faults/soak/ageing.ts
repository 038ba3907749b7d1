import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../src/store/db/connect.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import type { SoakWorld } from "./world.ts";

/** Minutes that rows with a retention are kept in a soak. */
const KEPT_MINUTES = 4;
const INTERVAL_MS = 60_000;

/** The tables of which the service deletes all old rows, with the column that it compares. */
export const RETAINED: Readonly<Record<string, string>> = {
  audit_log: "occurred_at",
  board_changes: "at",
  deliveries: "received_at",
  events: "numbered_at",
  idempotency_keys: "created_at",
  monitor_reports: "received_at",
  webhook_deliveries: "at",
};

/** Old rows of these are kept while a card needs them. */
const PARTLY_RETAINED = { check_reports: "changed_at", operations: "updated_at" };

/**
 * Makes rows old every minute, and runs the jobs that delete old rows, which run hourly. So a soak
 * of half an hour contains what a service does in months.
 */
export async function ageRows({ deps, forge }: SoakWorld, isOver: () => boolean): Promise<void> {
  for (let last = Date.now(); !isOver(); await sleep(1_000)) {
    if (Date.now() - last < INTERVAL_MS) continue;
    last = Date.now();
    // GitHub keeps its log for a shorter time than the service keeps deliveries.
    const { deliveries } = forge.context.state;
    const limit = last - (KEPT_MINUTES - 1) * 60_000;
    for (const { id, deliveredAt } of deliveries.all())
      if (deliveredAt !== null && Date.parse(deliveredAt) < limit) deliveries.delete(id);
    await makeOld(deps.db);
    await addJob(deps.db, "delete-old-rows", {}, { key: "delete-old-rows" });
    await addJob(deps.db, "drop-old-board-changes", {}, { key: "drop-old-board-changes" });
  }
}

const isDue = (column: string): string =>
  `${column} between now() - interval '1 day' and now() - interval '${KEPT_MINUTES} minutes'`;

async function makeOld(db: Db): Promise<void> {
  for (const [table, column] of Object.entries({ ...RETAINED, ...PARTLY_RETAINED })) {
    await db.raw(`update ${table} set ${column} = ${column} - interval '500 days' where ${isDue(column)}`);
  }
  await db.raw(
    `update credentials set revoked_at = revoked_at - interval '500 days'
      where id in (select credential_id from sessions) and ${isDue("revoked_at")}`,
  );
}
