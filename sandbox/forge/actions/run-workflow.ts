import type { ForgeContext } from "../context.ts";
import type { AccountRow, CheckConclusion, CheckSuiteRow, RepositoryRow, WorkflowRun } from "../rows.ts";
import { createCheckRun, createSuite, emitCheckSuite } from "./report-check.ts";

export interface NewWorkflowRun {
  readonly sha: string;
  readonly workflow: string;
  /** What starts it, such as `push`. */
  readonly event: string;
  /** The conclusions by name; null while a job runs. */
  readonly jobs: Readonly<Record<string, CheckConclusion | null>>;
  /** Of a suite without jobs, such as `startup_failure`. */
  readonly conclusion?: CheckConclusion;
}

/**
 * Runs a workflow for a commit: each run has a suite of its own. GitHub Actions is the sandbox App
 * here, which has one suite for each commit besides.
 */
export async function runWorkflow(
  forge: ForgeContext,
  repository: RepositoryRow,
  { sha, workflow, event, jobs, conclusion }: NewWorkflowRun,
  by: AccountRow,
): Promise<CheckSuiteRow> {
  const appId = forge.state.apps.all()[0]?.id ?? 0;
  const suite = await createSuite(forge, repository, sha, {
    appId,
    workflowRun: nextRun(forge, repository, workflow, event),
    ...(conclusion && { conclusion }),
  });
  for (const [name, result] of Object.entries(jobs)) {
    const state = result === null ? "in_progress" : "completed";
    const run = { name, headSha: sha, appId, suiteId: suite.id, status: state, conclusion: result } as const;
    await createCheckRun(forge, repository, by, run);
  }
  if (conclusion) await emitCheckSuite(forge, repository, suite, "completed", by);
  return suite;
}

function nextRun(
  forge: ForgeContext,
  { id: repositoryId }: RepositoryRow,
  workflow: string,
  event: string,
): WorkflowRun {
  const earlier = forge.state.checkSuites
    .all()
    .flatMap((suite) => (suite.repositoryId === repositoryId ? (suite.workflowRun ?? []) : []))
    .filter((run) => run.workflow === workflow);
  const workflowId = earlier[0]?.workflowId ?? forge.state.newId();
  return { runId: forge.state.newId(), runNumber: earlier.length + 1, workflowId, workflow, event };
}
