import { checkDatabase } from "../actions/doctor/check-database.ts";
import { checkForge, type ListMissing } from "../actions/doctor/check-forge.ts";
import { checkAddress, checkSignIn } from "../actions/doctor/check-service.ts";
import { problem, type Finding } from "../actions/doctor/finding.ts";
import { WEBHOOK_PATH } from "../app.ts";
import { ConfigError, readConfig } from "../config.ts";
import { isServiceUrl } from "../settings.ts";
import { Problem } from "../errors.ts";
import { signInStateOf } from "../http/console/console.ts";
import type { Db } from "../store/db/connect.ts";
import { listUnknownDeliveries } from "../store/forge/deliveries.ts";
import { listLimitedAccounts } from "../store/forge/forge-limits.ts";
import { printResult, readOptions, type Command, type CommandContext } from "./command.ts";
import { openForge, withDatabase } from "./open.ts";

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
      ...consoleFindings(context),
    ];
    printResult(context, values, findings, findings.map(lineOf));
    const problems = findings.filter(({ state }) => state === "problem").length;
    if (problems > 0) throw new Problem("unavailable", `Problems found: ${problems}.`);
  },
};

function lineOf({ about, state, message, advice }: Finding): string {
  const line = `${MARKS[state]}  ${about}: ${message}`;
  return advice === undefined ? line : `${line}\n         ${advice}`;
}

async function databaseFindings(context: CommandContext): Promise<Finding[]> {
  try {
    return await withDatabase(context, checkDatabase);
  } catch (error) {
    const message =
      error instanceof Error ? error.message || "It cannot be reached." : "It cannot be reached.";
    return [problem("database", message, "Check the host, user, password and database in DATABASE_URL.")];
  }
}

/** A malformed PUBLIC_URL is a finding of the configuration. */
async function addressFindings({ env }: CommandContext): Promise<Finding[]> {
  const publicUrl = env["PUBLIC_URL"] ?? "";
  return isServiceUrl(publicUrl) ? checkAddress(publicUrl.replace(/\/$/, "")) : [];
}

/** Other mistakes of the configuration are findings of `forgeFindings`. */
function consoleFindings({ env, cwd }: CommandContext): Finding[] {
  try {
    const config = readConfig(env, cwd);
    return config.mode === "sandbox" ? [] : [checkSignIn(signInStateOf(config.console))];
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

/** Whether the limits of GitHub can be read, so that the checks respect them. */
const hasLimits = (context: CommandContext): Promise<boolean> =>
  withDatabase(context, listLimitedAccounts).then(
    () => true,
    () => false,
  );

async function forgeFindings(context: CommandContext): Promise<Finding[]> {
  try {
    const publicUrl = context.env["PUBLIC_URL"]?.replace(/\/$/, "") || null;
    const check = async (db: Db | null): Promise<Finding[]> => {
      // Without a database, which is a separate finding, all of them count as missing.
      const listMissing: ListMissing = async (guids) =>
        db ? listUnknownDeliveries(db, guids) : new Set(guids);
      return checkForge(await openForge(context, db), { publicUrl, path: WEBHOOK_PATH }, listMissing);
    };
    return await ((await hasLimits(context)) ? withDatabase(context, check) : check(null));
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.problems.map((each) => problem("configuration", each, "Correct it and run doctor again."));
    }
    if (error instanceof Problem)
      return [problem("configuration", error.message, "Correct it and run doctor again.")];
    throw error;
  }
}
