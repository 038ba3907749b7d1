import { ConfigError, isAddress } from "../config.ts";
import { Problem } from "../errors.ts";
import type { Db } from "../store/db/connect.ts";
import { listUnknown } from "../store/forge/deliveries.ts";
import { countLiveInstances } from "../store/ops/instances.ts";
import { pendingMigrations } from "../store/db/migrate.ts";
import { readDatabaseVersion, readQueueStatistics } from "../store/ops/queue-statistics.ts";
import { printResult, readOptions, type Command, type CommandContext } from "./command.ts";
import { fine, problem, warning, type Finding } from "./doctor/finding.ts";
import { lookAtForge, type ListMissing } from "./doctor/look-at-forge.ts";
import { openForge, withDatabase } from "./open.ts";

const ADDRESS_WITHIN_MS = 5_000;
const OLDEST_VERSION = 140_000;
/** A queue that waits longer does not work, in seconds. */
const LONG = 600;

const MARKS: Readonly<Record<Finding["state"], string>> = {
  ok: "ok     ",
  warning: "warning",
  problem: "PROBLEM",
};

/** `doctor`: what is configured, reachable and permitted, and what to do about the rest. It changes nothing. */
export const doctor: Command = {
  name: "doctor",
  about: "What is configured, reachable and permitted, and what to do about the rest; changes nothing",
  usage: ["doctor"],
  run: async (args, context) => {
    const values = readOptions(args, {});
    const findings = [
      ...(await databaseFindings(context)),
      ...(await addressFindings(context)),
      ...(await forgeFindings(context)),
    ];
    printResult(context, values, findings, findings.map(lineOf));
    const problems = findings.filter(({ state }) => state === "problem").length;
    if (problems > 0) throw new Problem("unavailable", `Problems found: ${problems}.`);
  },
};

function lineOf({ about, state, says, advice }: Finding): string {
  const line = `${MARKS[state]}  ${about}: ${says}`;
  return advice === undefined ? line : `${line}\n         ${advice}`;
}

async function databaseFindings(context: CommandContext): Promise<Finding[]> {
  try {
    return await withDatabase(context, lookAtDatabase);
  } catch (error) {
    const says = error instanceof Error ? error.message || "It cannot be reached." : "It cannot be reached.";
    return [problem("database", says, "Compare DATABASE_URL with where PostgreSQL is, and with its users.")];
  }
}

/** The database, and what waits in it. */
async function lookAtDatabase(db: Db): Promise<Finding[]> {
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
  const alive = await countLiveInstances(db);
  found.push(
    alive > 0
      ? fine("processes", `Service processes alive on this database: ${alive}.`)
      : warning("processes", "No service process is alive on this database.", "Start one."),
  );
  return [...found, ...(await lookAtQueue(db))];
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

/** Whether PUBLIC_URL leads to the service. A malformed one is a finding about the configuration. */
async function addressFindings({ env }: CommandContext): Promise<Finding[]> {
  const publicUrl = env["PUBLIC_URL"] ?? "";
  if (!isAddress(publicUrl)) return [];
  const about = "public url";
  const advice =
    "Let PUBLIC_URL and what stands in front of the service lead to it. Where only this machine cannot reach it, call without PUBLIC_URL.";
  try {
    const answer = await fetch(`${publicUrl.replace(/\/$/, "")}/healthz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(ADDRESS_WITHIN_MS),
    });
    const isOurs = answer.ok && (await answer.text()) === '{"status":"ok"}';
    if (isOurs) return [fine(about, `The service answers at ${publicUrl}.`)];
    return [problem(about, `What answers at ${publicUrl} is not the service (${answer.status}).`, advice)];
  } catch {
    return [problem(about, `Nothing answers at ${publicUrl}.`, advice)];
  }
}

async function forgeFindings(context: CommandContext): Promise<Finding[]> {
  try {
    const listMissing: ListMissing = (guids) =>
      // Without a database, which is told apart, none of them can be said to be there.
      withDatabase(context, (db) => listUnknown(db, guids)).catch(() => new Set(guids));
    return await lookAtForge(await openForge(context), context.env["PUBLIC_URL"] || undefined, listMissing);
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.problems.map((says) => problem("configuration", says, "Set it and call again."));
    }
    if (error instanceof Problem)
      return [problem("configuration", error.message, "Set them and call again.")];
    throw error;
  }
}
