import { ForgeUnavailable, type Ordered } from "../forge.ts";
import { InstallationRefused } from "./failures.ts";

/** An installation that is suspended or gone refuses every order. */
export async function permitted<T>(order: () => Promise<Ordered<T>>): Promise<Ordered<T>> {
  try {
    return await order();
  } catch (error) {
    if (error instanceof InstallationRefused) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

/** A question that has no room for a refusal cannot be answered by such an installation. */
export async function reachable<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof InstallationRefused)) throw error;
    throw new ForgeUnavailable(error.message, { retryAfter: 60, cause: error });
  }
}

/** For what only adds to an answer: a forge that does not tell is no reason to give none. */
export function nothingTold(error: unknown): readonly [] {
  if (error instanceof InstallationRefused || error instanceof ForgeUnavailable) return [];
  throw error;
}
