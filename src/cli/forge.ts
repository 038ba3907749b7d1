import { join } from "node:path";
import { WEBHOOK_PATH } from "../app.ts";
import { dataDirOf } from "../config.ts";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { startForge } from "../../sandbox/forge/start-forge.ts";
import { newControlToken, writeForgeFile } from "../../sandbox/state-files.ts";
import { portOf, printOutcome, readArgs, TEXT, type Command } from "./command.ts";

export const forge: Command = {
  name: "forge",
  about: "Runs only the sandbox forge, to run a service against it instead of GitHub",
  usage: ["forge [--port <port>] [--webhook-url <url>]"],
  options: {
    "--port <port>": "Port to listen on; 0 selects a free one (default: SANDBOX_FORGE_PORT or 3001)",
    "--webhook-url <url>": "URL to deliver webhooks to (default: none)",
  },
  examples: [`forge --webhook-url http://127.0.0.1:3000${WEBHOOK_PATH}`],
  run: async (args, context) => {
    const { values } = readArgs(args, { port: TEXT, "webhook-url": TEXT });
    const port = portOf(values.port ?? context.env["SANDBOX_FORGE_PORT"] ?? "3001");
    const dataDir = await lockDataDir(dataDirOf(context.env, context.cwd), context.pid);
    const searchPath = context.env["PATH"];
    const running = await startForge({
      dataDir: join(dataDir.path, "forge"),
      port,
      webhookUrl: values["webhook-url"] ?? null,
      controlToken: newControlToken(),
      ...(searchPath !== undefined && { searchPath }),
    });
    const path = await writeForgeFile(dataDir.path, running);
    const { apiUrl, cloneUrl } = running;
    const text = `The forge runs at ${cloneUrl}, its API at ${apiUrl}.\n${path} contains the App's key and secret, the users' tokens and the control token.`;
    printOutcome(context, values, { apiUrl, cloneUrl, file: path }, text);
    await context.untilSignal();
    await running.stop();
    await dataDir.release();
  },
};
