import { removeBundles } from "./processes/compiled.ts";

export default async function globalTeardown(): Promise<void> {
  try {
    await globalThis.testPostgres?.stop();
  } finally {
    await removeBundles();
  }
}
