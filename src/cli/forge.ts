import { join } from "node:path";
import { dataDirOf } from "../config.ts";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { startForge } from "../../sandbox/forge/start-forge.ts";
import { newControlToken, writeForgeFile } from "../../sandbox/state-files.ts";
import { portOf, printDone, readArgs, TEXT, type Command } from "./command.ts";

/** `forge`: only the embedded forge, to try a service in real mode against. */
export const forge: Command = {
  name: "forge",
  about: "Only the sandbox's forge, to try a service in real mode against",
  usage: ["forge [--port N] [--webhook-url U]"],
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
    const text = `The forge is at ${cloneUrl}, its API at ${apiUrl}.\nThe App's key and secret, the people's tokens and the control's are in ${path}.`;
    printDone(context, values, { apiUrl, cloneUrl, file: path }, text);
    await context.untilSignal();
    await running.stop();
    await dataDir.release();
  },
};
