export interface StatusRow {
  readonly id: number;
  readonly repositoryId: number;
  readonly sha: string;
  readonly state: "error" | "failure" | "pending" | "success";
  readonly context: string;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly creatorId: number;
  readonly createdAt: string;
}

export type CheckStatus = "queued" | "in_progress" | "completed" | "waiting" | "requested" | "pending";
export const CONCLUSIONS = [
  "success",
  "failure",
  "neutral",
  "cancelled",
  "skipped",
  "timed_out",
  "action_required",
  "stale",
  "startup_failure",
] as const;
export type CheckConclusion = (typeof CONCLUSIONS)[number];

/** A run of a workflow of GitHub Actions. */
export interface WorkflowRun {
  readonly runId: number;
  readonly runNumber: number;
  readonly workflowId: number;
  readonly workflow: string;
  /** What started it, such as `push`. */
  readonly event: string;
}

/**
 * The check runs of one App on one commit, or of one workflow run, which determine its status and
 * conclusion.
 */
export interface CheckSuiteRow {
  /** Null for an App with one suite for each commit. Absent in older data. */
  readonly workflowRun?: WorkflowRun | null;
  /** The conclusion of a completed suite without runs. */
  readonly conclusion?: CheckConclusion | null;
  readonly id: number;
  readonly repositoryId: number;
  readonly headSha: string;
  readonly headBranch: string | null;
  readonly appId: number;
  readonly before: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface CheckRunRow {
  readonly id: number;
  readonly repositoryId: number;
  readonly suiteId: number;
  readonly appId: number;
  readonly headSha: string;
  readonly name: string;
  readonly status: CheckStatus;
  readonly conclusion: CheckConclusion | null;
  readonly detailsUrl: string | null;
  readonly externalId: string;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly output: {
    readonly title: string | null;
    readonly summary: string | null;
    readonly text: string | null;
  };
  readonly annotations: readonly CheckAnnotation[];
}

export interface CheckAnnotation {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly startColumn: number | null;
  readonly endColumn: number | null;
  readonly level: "notice" | "warning" | "failure";
  readonly title: string | null;
  readonly message: string;
  readonly rawDetails: string | null;
}
