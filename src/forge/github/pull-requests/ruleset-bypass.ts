import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { RepositoryRef } from "../../values.ts";
import { type GitHubCaller, parseResponse } from "../calls/client.ts";
import { isWithoutResponse, orFallback } from "../calls/failures.ts";
import type { MonotonicClock } from "../calls/transport.ts";
import { callsById } from "../repositories.ts";

/** Only the REST API says whether the App may bypass a ruleset. It changes rarely. */
const REMEMBERED_MS = 600_000;
const MAX_REMEMBERED = 1_000;

const rulesetShape = z.looseObject({ current_user_can_bypass: z.string().nullish() });

/** Whether the App may bypass a ruleset when it merges; null if GitHub does not say. */
export type BypassReader = (
  caller: GitHubCaller,
  repository: RepositoryRef,
  rulesetId: number,
) => Promise<boolean | null>;

/** Remembers what GitHub says for ten minutes. */
export function createBypassReader(clock: MonotonicClock): BypassReader {
  const known = new LRUCache<string, { readonly canBypass: boolean | null; readonly at: number }>({
    max: MAX_REMEMBERED,
  });
  return async (caller, repository, rulesetId) => {
    const key = `${repository.forgeId}:${rulesetId}`;
    const found = known.get(key);
    if (found !== undefined && clock.now() - found.at < REMEMBERED_MS) return found.canBypass;
    const read = callsById(caller, repository).read("/rulesets/{ruleset_id}", { ruleset_id: rulesetId });
    const response = await orFallback(read, isWithoutResponse, null);
    if (response === null) return null;
    const value = response.status === 200 ? parseResponse(rulesetShape, response) : {};
    const canBypass = value.current_user_can_bypass ? value.current_user_can_bypass !== "never" : null;
    known.set(key, { canBypass, at: clock.now() });
    return canBypass;
  };
}
