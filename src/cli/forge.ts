import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dataDirOf } from "../config.ts";
import { lockDataDir } from "../sandbox/data-dir-lock.ts";
import { startForge } from "../sandbox/forge/start-forge.ts";
import { readArgs, UsageError, type Command } from "./command.ts";

/** `forge`: only the embedded forge, to try a service in real mode against. */
export const forge: Command = {
  name: "forge",
  usage: ["forge [--port N] [--webhook-url U]"],
  run: async (args, context) => {
    const { values } = readArgs(args, {
      port: { type: "string" },
      "webhook-url": { type: "string" },
      json: { type: "boolean" },
    });
    const port = Number(values.port ?? context.env["SANDBOX_FORGE_PORT"] ?? 3001);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new UsageError("--port is a port number.");
    const dataDir = await lockDataDir(dataDirOf(context.env, context.cwd), context.pid);
    const searchPath = context.env["PATH"];
    const running = await startForge({
      dataDir: join(dataDir.path, "forge"),
      port,
      webhookUrl: values["webhook-url"] ?? null,
      ...(searchPath !== undefined && { searchPath }),
    });
    const file = {
      apiUrl: running.apiUrl,
      cloneUrl: running.cloneUrl,
      appId: running.app.id,
      privateKey: running.app.privateKey,
      webhookSecret: running.app.webhookSecret,
      users: running.users.map(({ login, token }) => ({ login, token })),
    };
    const path = join(dataDir.path, "forge.json");
    await writeFile(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
    await rename(`${path}.new`, path);
    context.print(
      values.json
        ? JSON.stringify({ apiUrl: file.apiUrl, cloneUrl: file.cloneUrl, file: path })
        : `The forge is at ${file.cloneUrl}, its API at ${file.apiUrl}.\nThe App's key and secret and the people's tokens are in ${path}.`,
    );
    await context.untilSignal();
    await running.stop();
    await dataDir.release();
  },
};
