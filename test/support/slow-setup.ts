import globalSetup from "./global-setup.ts";
import { compileForRun } from "./processes/compiled.ts";

/**
 * Also compiles the service. Several tests run `npm start` at the same time, and none of them may write
 * the compiled files while another one loads them.
 */
export default async function slowSetup(): Promise<void> {
  await Promise.all([globalSetup(), compileForRun()]);
}
