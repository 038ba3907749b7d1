import { ConfigError, isAddress } from "../config.ts";
import { Problem } from "../errors.ts";
import { printResult, readOptions, type Command, type CommandContext } from "./command.ts";
import { fine, problem, type Finding } from "./doctor/finding.ts";
import { lookAtDatabase } from "./doctor/look-at-database.ts";
import { lookAtForge, type ListMissing } from "./doctor/look-at-forge.ts";
import { listUnknown } from "../store/forge/deliveries.ts";
import { withDatabase } from "./open-database.ts";
import { openForge } from "./open-forge.ts";

const ADDRESS_WITHIN_MS = 5_000;

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

/** Whether the service is where others are told that it is. An address that is none is told with the other settings. */
async function addressFindings({ env }: CommandContext): Promise<Finding[]> {
  const publicUrl = env["PUBLIC_URL"] ?? "";
  return isAddress(publicUrl) ? [await lookAtAddress(publicUrl)] : [];
}

/** Whether a service of ours answers at the address others are to reach it by. */
async function lookAtAddress(publicUrl: string): Promise<Finding> {
  const about = "public url";
  const advice =
    "Let PUBLIC_URL and what stands in front of the service lead to it. Where only this machine cannot reach it, call without PUBLIC_URL.";
  try {
    const answer = await fetch(`${publicUrl.replace(/\/$/, "")}/healthz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(ADDRESS_WITHIN_MS),
    });
    const isOurs = answer.ok && (await answer.text()) === '{"status":"ok"}';
    if (isOurs) return fine(about, `The service answers at ${publicUrl}.`);
    return problem(about, `What answers at ${publicUrl} is not the service (${answer.status}).`, advice);
  } catch {
    return problem(about, `Nothing answers at ${publicUrl}.`, advice);
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
