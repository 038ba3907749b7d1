/** The state of a commit's checks; null when nothing has reported. */
export type ChecksState = "passing" | "failing" | "pending" | null;

/** The result of one check run or commit status. */
export type CheckOutcome = "passing" | "failing" | "pending" | "skipped";

const FAILING_CONCLUSIONS = new Set([
  "failure",
  "timed_out",
  "cancelled",
  "action_required",
  "startup_failure",
]);

/**
 * From GitHub's `status` and `conclusion` in upper or lower case
 * (conclusions: https://docs.github.com/en/rest/checks/runs).
 */
export function outcomeOfCheckRun(status: string, conclusion: string | null): CheckOutcome {
  if (status.toLowerCase() !== "completed") return "pending";
  const result = (conclusion ?? "").toLowerCase();
  if (FAILING_CONCLUSIONS.has(result)) return "failing";
  if (result === "skipped" || result === "neutral") return "skipped";
  // GitHub replaces a stale run.
  if (result === "stale" || result === "") return "pending";
  return "passing";
}

/**
 * From a check suite without runs: a workflow that could not start, or that waits for a person's
 * approval. Null for others: GitHub opens a suite for each App at each push, which stays queued if
 * the App never reports.
 */
export function outcomeOfEmptySuite(status: string, conclusion: string | null): CheckOutcome | null {
  if (status.toLowerCase() !== "completed") return null;
  const result = (conclusion ?? "").toLowerCase();
  if (result === "action_required") return "pending";
  return result === "startup_failure" || result === "failure" ? "failing" : null;
}

/** From a commit status's `state` in upper or lower case. */
export function outcomeOfStatus(state: string): CheckOutcome {
  const result = state.toLowerCase();
  if (result === "success") return "passing";
  return result === "failure" || result === "error" ? "failing" : "pending";
}

/** The states by precedence, each with the outcomes that cause it. */
export const CHECKS_PRECEDENCE: readonly (readonly [Exclude<ChecksState, null>, readonly CheckOutcome[]])[] =
  [
    ["failing", ["failing"]],
    ["pending", ["pending"]],
    ["passing", ["passing", "skipped"]],
  ];

export function checksState(outcomes: readonly CheckOutcome[]): ChecksState {
  const found = CHECKS_PRECEDENCE.find(([, from]) => outcomes.some((outcome) => from.includes(outcome)));
  return found?.[0] ?? null;
}
