import { pino } from "pino";
import { Problem } from "../errors.ts";
import { dataDirOf, readConfig } from "../config.ts";
import type { Forge } from "../forge/forge.ts";
import { createGitHubForge } from "../forge/github/connect-github.ts";
import { readForgeFile } from "../sandbox/state-files.ts";
import type { CommandContext } from "./command.ts";

/** The forge a command asks, and gives no orders: the configured App's, or that of the sandbox in this folder. */
export async function openForge({ env, cwd }: CommandContext): Promise<Forge> {
  const config = readConfig(env, cwd);
  const log = pino({ level: "silent" });
  if (config.mode === "real") {
    return createGitHubForge({
      baseUrl: config.apiUrl,
      appId: config.app.id,
      privateKey: config.app.privateKey,
      webhookSecret: config.webhookSecrets[0] ?? "",
      log,
    });
  }
  const file = await readForgeFile(dataDirOf(env, cwd));
  if (file) {
    const { apiUrl, appId, privateKey, webhookSecret } = file;
    return createGitHubForge({ baseUrl: apiUrl, appId, privateKey, webhookSecret, log });
  }
  throw new Problem(
    "unavailable",
    "There is no forge to ask who that is: set APP_ID, PRIVATE_KEY and WEBHOOK_SECRET as for the service, or call beside a running sandbox.",
  );
}
