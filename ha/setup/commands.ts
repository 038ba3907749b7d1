import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { serviceEnvironment } from "../../faults/world/service-process.ts";
import type { HaWorld } from "../world.ts";

/** So that commands of the documentation run as they are there. */
const TRUNKLINE = `trunkline() { ${process.execPath} dist/src/cli/main.js "$@"; }`;

/** Runs shell commands that call `trunkline`. Returns the lines they print, also if they fail. */
export async function runCommands(
  { root, forge }: Pick<HaWorld, "root" | "forge">,
  databaseUrl: string,
  commands: string,
): Promise<string[]> {
  const env = { PATH: process.env["PATH"], ...serviceEnvironment(databaseUrl, forge, {}) };
  const args = ["--norc", "-euo", "pipefail", "-c", `${TRUNKLINE}\n${commands}`];
  const { stdout } = await promisify(execFile)("bash", args, { cwd: root, env }).catch(
    (error: unknown) => error as { stdout: string },
  );
  return stdout.split("\n").filter((line) => line !== "");
}
