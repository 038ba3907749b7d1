import type { PullRequestRow } from "../../rows.ts";
import { isGiven, type PageArgs } from "../connection.ts";

export interface PullRequestArgs extends PageArgs {
  readonly headRefName?: string | null;
  readonly baseRefName?: string | null;
  readonly states?: readonly ("OPEN" | "CLOSED" | "MERGED")[] | null;
  readonly labels?: readonly string[] | null;
  readonly orderBy?: {
    readonly field: "CREATED_AT" | "UPDATED_AT" | "COMMENTS";
    readonly direction: "ASC" | "DESC";
  } | null;
}

export function pullRequestState(row: PullRequestRow): "OPEN" | "CLOSED" | "MERGED" {
  if (row.mergedAt !== null) return "MERGED";
  return row.state === "open" ? "OPEN" : "CLOSED";
}

/** The pull requests that the arguments of a list ask for; oldest first unless they order otherwise. */
export function chosenPullRequests(rows: readonly PullRequestRow[], args: PullRequestArgs): PullRequestRow[] {
  const chosen = rows.filter(
    (row) =>
      (!isGiven(args.headRefName) || row.headRef === args.headRefName) &&
      (!isGiven(args.baseRefName) || row.baseRef === args.baseRefName) &&
      (!isGiven(args.states) || args.states.includes(pullRequestState(row))) &&
      (!isGiven(args.labels) || args.labels.length === 0),
  );
  if (!isGiven(args.orderBy)) return chosen;
  const { field, direction } = args.orderBy;
  const timeOf = (row: PullRequestRow) => (field === "UPDATED_AT" ? row.updatedAt : row.createdAt);
  // Times are whole seconds: the number decides between two of the same second.
  const sorted = chosen.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)) || a.number - b.number);
  return direction === "DESC" ? sorted.toReversed() : sorted;
}
