import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import globalSetup from "./global-setup.ts";

/**
 * Also compiles the service. Several tests run `npm start` at the same time, and none of them may write
 * the compiled files while another one loads them.
 */
export default async function slowSetup(): Promise<void> {
  const cwd = resolve(import.meta.dirname, "../..");
  await Promise.all([globalSetup(), promisify(execFile)("npm", ["run", "--silent", "build"], { cwd })]);
}
