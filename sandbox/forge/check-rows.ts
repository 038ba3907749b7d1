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
export type CheckConclusion =
  | "success"
  | "failure"
  | "neutral"
  | "cancelled"
  | "skipped"
  | "timed_out"
  | "action_required"
  | "stale"
  | "startup_failure";

/** The check runs of one App on one commit, which determine its status and conclusion. */
export interface CheckSuiteRow {
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
