import { removeBundles } from "./processes/compiled.ts";

export default async function globalTeardown(): Promise<void> {
  await globalThis.testPostgres?.stop();
  await removeBundles();
}
