import type { Db } from "../../store/db/connect.ts";
import { countLiveInstances } from "../../store/ops/instances.ts";
import { pendingMigrations } from "../../store/db/migrate.ts";
import { readDatabaseVersion, readQueueStatistics } from "../../store/ops/queue-statistics.ts";
import { fine, problem, warning, type Finding } from "./finding.ts";

const OLDEST_VERSION = 140_000;
/** Longer waits than this say that something is wrong rather than busy, in seconds. */
const LONG = 600;

/** The database, and what waits in it. */
export async function lookAtDatabase(db: Db): Promise<Finding[]> {
  const version = await readDatabaseVersion(db);
  const major = Math.floor(version / 10_000);
  if (version < OLDEST_VERSION) {
    return [problem("database", `It is PostgreSQL ${major}.`, "Move to PostgreSQL 14 or newer.")];
  }
  const found = [fine("database", `PostgreSQL ${major} answers.`)];
  const pending = await pendingMigrations(db);
  if (pending.length > 0) {
    const advice = "Run `trunkline migrate`, or start the service: it migrates first.";
    return [...found, problem("migrations", `Not yet applied: ${pending.join(", ")}.`, advice)];
  }
  found.push(fine("migrations", "The schema is up to date."));
  return [...found, await lookAtProcesses(db), ...(await lookAtQueue(db))];
}

async function lookAtProcesses(db: Db): Promise<Finding> {
  const alive = await countLiveInstances(db);
  if (alive > 0) return fine("processes", `Service processes alive on this database: ${alive}.`);
  return warning("processes", "No service process is alive on this database.", "Start one.");
}

async function lookAtQueue(db: Db): Promise<Finding[]> {
  const { queueDepth, queueAge, failedJobs, waiting, waitingAge, parked } = await readQueueStatistics(db);
  const found: Finding[] = [];
  const due = `Jobs due: ${queueDepth}, the oldest for ${Math.round(queueAge)} seconds.`;
  found.push(
    queueAge < LONG
      ? fine("jobs", due)
      : problem("jobs", due, "No process takes them: look at the log of a running one, or start one."),
  );
  if (failedJobs > 0) {
    const advice = "The log has the error of each. Mend that, then `trunkline repair` has them tried again.";
    found.push(warning("jobs", `Jobs given up after their last try: ${failedJobs}.`, advice));
  }
  const unworked = `Deliveries waiting: ${waiting}, the oldest for ${Math.round(waitingAge)} seconds.`;
  found.push(
    waitingAge < LONG
      ? fine("deliveries", unworked)
      : warning("deliveries", unworked, "The log says why they fail; while the forge is away they wait."),
  );
  if (parked > 0) {
    const advice = "See `trunkline delivery list`, mend the cause, then `trunkline delivery retry --all`.";
    found.push(problem("deliveries", `Deliveries set aside after too many failures: ${parked}.`, advice));
  }
  return found;
}
