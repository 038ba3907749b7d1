import { Problem } from "../errors.ts";
import type { ForgeUnavailable, UnavailableReason } from "../forge/values.ts";

/** The error of a rate limit has a text with the time of its end. */
const CAUSE_TEXTS: Readonly<Record<Exclude<UnavailableReason, "rate_limit">, string>> = {
  unusable_response: "GitHub's response could not be used",
  outage: "GitHub could not be reached",
};

/** The 503 for a call that GitHub could not serve. `unfinished` names what is not done because of that. */
export function unavailable(error: ForgeUnavailable, unfinished?: string): Problem {
  const { reason, retryAfter } = error;
  const happened = reason === "rate_limit" ? error.message : CAUSE_TEXTS[reason];
  const so = unfinished === undefined ? "" : `, so ${unfinished} is not finished`;
  return new Problem("unavailable", `${happened}${so}. Make the same call again.`, {
    body: { reason },
    retryAfter,
    detail: error.message,
    cause: error,
  });
}
