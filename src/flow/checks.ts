/** The CI state of a commit: null when nothing has reported. */
export type ChecksState = "passing" | "failing" | "pending" | null;

/** One check run or commit status, reduced to what decides. */
export type CheckOutcome = "passing" | "failing" | "pending" | "skipped";

const FAILING_CONCLUSIONS = new Set([
  "failure",
  "timed_out",
  "cancelled",
  "action_required",
  "startup_failure",
]);

/**
 * What a check run says, from GitHub's `status` and `conclusion` in either case
 * (conclusions: https://docs.github.com/en/rest/checks/runs).
 */
export function outcomeOfCheckRun(status: string, conclusion: string | null): CheckOutcome {
  if (status.toLowerCase() !== "completed") return "pending";
  const word = (conclusion ?? "").toLowerCase();
  if (FAILING_CONCLUSIONS.has(word)) return "failing";
  if (word === "skipped" || word === "neutral") return "skipped";
  // A stale run will be replaced; until then nothing is known.
  if (word === "stale" || word === "") return "pending";
  return "passing";
}

/** What a commit status says, from its `state` in either case. */
export function outcomeOfStatus(state: string): CheckOutcome {
  const word = state.toLowerCase();
  if (word === "success") return "passing";
  return word === "failure" || word === "error" ? "failing" : "pending";
}

/** The states of a commit by precedence, each with the outcomes that lead to it. */
export const CHECKS_PRECEDENCE: readonly (readonly [Exclude<ChecksState, null>, readonly CheckOutcome[]])[] =
  [
    ["failing", ["failing"]],
    ["pending", ["pending"]],
    ["passing", ["passing", "skipped"]],
  ];

/** One state for a commit: the first by precedence that any outcome leads to; null when nothing has reported. */
export function checksState(outcomes: readonly CheckOutcome[]): ChecksState {
  const found = CHECKS_PRECEDENCE.find(([, from]) => outcomes.some((outcome) => from.includes(outcome)));
  return found?.[0] ?? null;
}
