import { Problem } from "../errors.ts";
import { ForgeLimited, type ForgeUnavailable, type UnavailableReason } from "../forge/values.ts";

const HAPPENED: Readonly<Record<UnavailableReason, string>> = {
  rate_limit: "GitHub limits requests",
  unusable_answer: "GitHub's answer could not be used",
  outage: "GitHub could not be reached",
};

/** The 503 for a call that GitHub did not answer. `unfinished` is what is not done because of that. */
export function unavailable(error: ForgeUnavailable, unfinished?: string): Problem {
  const { reason, retryAfter } = error;
  // A limit's message states its end.
  const happened = error instanceof ForgeLimited ? error.message : HAPPENED[reason];
  const so = unfinished === undefined ? "" : `, so ${unfinished} is not finished`;
  return new Problem("unavailable", `${happened}${so}. Make the same call again.`, {
    body: { reason },
    retryAfter,
    detail: error.message,
    cause: error,
  });
}
