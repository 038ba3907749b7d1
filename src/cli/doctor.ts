import { ConfigError, isServiceUrl } from "../config.ts";
import { Problem } from "../errors.ts";
import { chainAge } from "../store/audit/attempts.ts";
import type { Db } from "../store/db/connect.ts";
import { listUnknownDeliveries } from "../store/forge/deliveries.ts";
import { listLimitedAccounts } from "../store/forge/forge-limits.ts";
import { countLiveInstances } from "../store/ops/instances.ts";
import { pendingMigrations } from "../store/db/migrate.ts";
import {
  readDatabaseVersion,
  readQueueStatistics,
  type QueueStatistics,
} from "../store/ops/queue-statistics.ts";
import { printResult, readOptions, type Command, type CommandContext } from "./command.ts";
import { fine, problem, warning, type Finding } from "./doctor/finding.ts";
import { checkForge, type ListMissing } from "./doctor/check-forge.ts";
import { openForge, withDatabase } from "./open.ts";

const PUBLIC_URL_TIMEOUT_MS = 5_000;
/** PostgreSQL 14, as `server_version_num`. */
const OLDEST_VERSION = 140_000;
/** Age of the oldest due job or waiting delivery that is a finding, in seconds. */
const MAX_QUEUE_AGE = 600;
/** In seconds. A running process numbers events and extends the audit log within two seconds. */
const MAX_EVENTS_AGE = 30;
/** In seconds. By then, three attempts have failed. */
const MAX_WEBHOOKS_AGE = 3_600;

const MARKS: Readonly<Record<Finding["state"], string>> = {
  ok: "ok     ",
  warning: "warning",
  problem: "PROBLEM",
};

export const doctor: Command = {
  name: "doctor",
  about: "Checks settings, database, webhook and permissions, and prints how to fix problems",
  usage: ["doctor"],
  examples: ["doctor"],
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
    return await withDatabase(context, checkDatabase);
  } catch (error) {
    const says = error instanceof Error ? error.message || "It cannot be reached." : "It cannot be reached.";
    return [problem("database", says, "Check the host, user, password and database in DATABASE_URL.")];
  }
}

async function checkDatabase(db: Db): Promise<Finding[]> {
  const version = await readDatabaseVersion(db);
  const major = Math.floor(version / 10_000);
  if (version < OLDEST_VERSION) {
    return [problem("database", `The server is PostgreSQL ${major}.`, "Upgrade to PostgreSQL 14 or newer.")];
  }
  const found = [fine("database", `PostgreSQL ${major} answers.`)];
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
    queueAge < MAX_QUEUE_AGE
      ? fine("jobs", due)
      : problem("jobs", due, "No process runs them. Check the log of a running process, or start one."),
  );
  if (failedJobs > 0) {
    const advice = "The log has the error of each. Fix the cause, then run `trunkline repair` to retry them.";
    found.push(warning("jobs", `Jobs that failed permanently: ${failedJobs}.`, advice));
  }
  const backlog = `Deliveries waiting: ${waiting}, the oldest for ${Math.round(waitingAge)} seconds.`;
  found.push(
    waitingAge < MAX_QUEUE_AGE
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
  if (eventsAge > MAX_EVENTS_AGE) {
    const late = `The event feed is late by ${Math.round(eventsAge)} seconds.`;
    found.push(problem("events", late, "Processes number events. Check the log of a running process."));
  }
  if (webhooksAge > MAX_WEBHOOKS_AGE) {
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
  if (age <= MAX_EVENTS_AGE) return [];
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

/** Checks that PUBLIC_URL leads to the service. A malformed one is a configuration finding. */
async function addressFindings({ env }: CommandContext): Promise<Finding[]> {
  const publicUrl = env["PUBLIC_URL"] ?? "";
  if (!isServiceUrl(publicUrl)) return [];
  const about = "public url";
  const advice =
    "Check PUBLIC_URL and the reverse proxy. If only this machine cannot reach the URL, run doctor without PUBLIC_URL.";
  try {
    const answer = await fetch(`${publicUrl.replace(/\/$/, "")}/healthz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(PUBLIC_URL_TIMEOUT_MS),
    });
    const isOurs = answer.ok && (await answer.text()) === '{"status":"ok"}';
    if (isOurs) return [fine(about, `The service answers at ${publicUrl}.`)];
    return [
      problem(
        about,
        `${publicUrl} is answered by something other than the service (status ${answer.status}).`,
        advice,
      ),
    ];
  } catch {
    return [problem(about, `Nothing answers at ${publicUrl}.`, advice)];
  }
}

async function forgeFindings(context: CommandContext): Promise<Finding[]> {
  try {
    const listMissing: ListMissing = (guids) =>
      // Without a database, which is a separate finding, all of them count as missing.
      withDatabase(context, (db) => listUnknownDeliveries(db, guids)).catch(() => new Set(guids));
    return await checkForge(await openForge(context), context.env["PUBLIC_URL"] || undefined, listMissing);
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.problems.map((says) => problem("configuration", says, "Correct it and run doctor again."));
    }
    if (error instanceof Problem)
      return [problem("configuration", error.message, "Correct it and run doctor again.")];
    throw error;
  }
}
