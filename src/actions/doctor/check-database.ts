import { chainAge } from "../../store/audit/attempts.ts";
import type { Db } from "../../store/db/connect.ts";
import { pendingMigrations } from "../../store/db/migrate.ts";
import { changesServerProcess } from "../../store/db/pooling.ts";
import { listLimitedAccounts } from "../../store/forge/forge-limits.ts";
import { countLiveInstances } from "../../store/ops/instances.ts";
import {
  readDatabaseVersion,
  readQueueStatistics,
  type QueueStatistics,
} from "../../store/ops/queue-statistics.ts";
import { fine, problem, warning, type Finding } from "./finding.ts";

/** PostgreSQL 14, as `server_version_num`. */
const OLDEST_VERSION = 140_000;
/** The ages of the oldest entries that are findings, in seconds. */
export const LATE_AFTER = {
  jobs: 600,
  deliveries: 600,
  /** A running process numbers events and extends the audit log within two seconds. */
  events: 30,
  auditChain: 30,
  /** By then, three attempts have failed. */
  webhooks: 3_600,
} as const;

/** Checks version, migrations, processes, queues, audit log and GitHub's limits. */
export async function checkDatabase(db: Db, databaseUrl: string): Promise<Finding[]> {
  // First, because other statements fail with such a pooler.
  if (await changesServerProcess(databaseUrl)) {
    const says = "DATABASE_URL leads to a pooler that changes the server process between transactions.";
    return [problem("pooler", says, "Set `pool_mode = session` in PgBouncer: jobs need LISTEN.")];
  }
  const version = await readDatabaseVersion(db);
  const major = Math.floor(version / 10_000);
  if (version < OLDEST_VERSION) {
    return [problem("database", `The server is PostgreSQL ${major}.`, "Upgrade to PostgreSQL 14 or newer.")];
  }
  const found = [fine("database", `PostgreSQL ${major} responds.`)];
  const pending = await pendingMigrations(db);
  if (pending.length > 0) {
    const advice = "Run `trunkline migrate`, or start the service: it applies them first.";
    return [...found, problem("migrations", `Not yet applied: ${pending.join(", ")}.`, advice)];
  }
  found.push(fine("migrations", "The schema is up to date."));
  const alive = await countLiveInstances(db);
  found.push(
    alive > 0
      ? fine("processes", `Service processes running on this database: ${alive}.`)
      : warning("processes", "No service process runs on this database.", "Start one."),
  );
  return [...found, ...(await checkQueue(db)), ...(await checkAudit(db)), ...(await checkLimits(db))];
}

async function checkQueue(db: Db): Promise<Finding[]> {
  const { queueDepth, queueAge, failedJobs, waiting, waitingAge, parked, ...feed } =
    await readQueueStatistics(db);
  const found: Finding[] = [];
  const due = `Jobs due: ${queueDepth}, the oldest for ${Math.round(queueAge)} seconds.`;
  found.push(
    queueAge < LATE_AFTER.jobs
      ? fine("jobs", due)
      : problem("jobs", due, "No process runs them. Check the log of a running process, or start one."),
  );
  if (failedJobs > 0) {
    const advice = "The log has the error of each. Fix the cause, then run `trunkline repair` to retry them.";
    found.push(warning("jobs", `Jobs that failed permanently: ${failedJobs}.`, advice));
  }
  const backlog = `Deliveries waiting: ${waiting}, the oldest for ${Math.round(waitingAge)} seconds.`;
  found.push(
    waitingAge < LATE_AFTER.deliveries
      ? fine("deliveries", backlog)
      : warning("deliveries", backlog, "The log has their errors. While GitHub is unreachable, they wait."),
  );
  found.push(...feedFindings(feed));
  if (parked > 0) {
    const advice = "Run `trunkline delivery list`, fix the cause, then run `trunkline delivery retry --all`.";
    found.push(problem("deliveries", `Deliveries parked after too many failures: ${parked}.`, advice));
  }
  return found;
}

function feedFindings({
  eventsAge,
  webhooksAge,
  webhooksPaused,
}: Pick<QueueStatistics, "eventsAge" | "webhooksAge" | "webhooksPaused">): Finding[] {
  const found: Finding[] = [];
  if (eventsAge > LATE_AFTER.events) {
    const late = `The event feed is late by ${Math.round(eventsAge)} seconds.`;
    found.push(problem("events", late, "Processes number events. Check the log of a running process."));
  }
  if (webhooksAge > LATE_AFTER.webhooks) {
    const late = `A webhook has not received events for ${Math.round(webhooksAge)} seconds.`;
    const advice = "Its deliveries show how its receiver fails. Otherwise check the log of a process.";
    found.push(warning("webhooks", late, advice));
  }
  if (webhooksPaused > 0) {
    const advice = "The inboxes of their boards say why. A maintainer can resume or delete them.";
    found.push(warning("webhooks", `Webhooks paused after failures: ${webhooksPaused}.`, advice));
  }
  return found;
}

async function checkAudit(db: Db): Promise<Finding[]> {
  const age = await chainAge(db);
  if (age <= LATE_AFTER.auditChain) return [];
  const late = `The chain of the audit log is late by ${Math.round(age)} seconds.`;
  return [problem("audit log", late, "Processes extend it. Check the log of a running process.")];
}

async function checkLimits(db: Db): Promise<Finding[]> {
  const limited = await listLimitedAccounts(db);
  const advice = "The service sends GitHub no request for it until then, and continues by itself.";
  return limited.map(({ login, until }) =>
    warning("limits", `GitHub limits requests for ${login} until ${until.toISOString()}.`, advice),
  );
}
