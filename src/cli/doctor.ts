import { ConfigError, isAddress } from "../config.ts";
import { Problem } from "../errors.ts";
import { readArgs, noWords, type Command, type CommandContext } from "./command.ts";
import { problem, type Finding } from "./doctor/finding.ts";
import { lookAtAddress } from "./doctor/look-at-address.ts";
import { lookAtDatabase } from "./doctor/look-at-database.ts";
import { lookAtForge, type ListMissing } from "./doctor/look-at-forge.ts";
import { listUnknown } from "../store/deliveries.ts";
import { withDatabase } from "./open-database.ts";
import { openForge } from "./open-forge.ts";

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
    const { values, positionals } = readArgs(args, { json: { type: "boolean" } });
    noWords(positionals);
    const findings = [
      ...(await databaseFindings(context)),
      ...(await addressFindings(context)),
      ...(await forgeFindings(context)),
    ];
    if (values.json) context.print(JSON.stringify(findings, null, 2));
    else for (const finding of findings) context.print(lineOf(finding));
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
