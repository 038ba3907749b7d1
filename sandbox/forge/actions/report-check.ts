import type { ForgeContext } from "../context.ts";
import { needCommit } from "../git/commits.ts";
import { presentCheckRun, presentCheckSuite, presentSuiteOfRun, suiteState } from "../present/check.ts";
import type { AccountRow, CheckRunRow, CheckSuiteRow, RepositoryRow } from "../rows.ts";
import { commitKey } from "../state.ts";
import { scheduleAutoMerges } from "./auto-merge.ts";
import { emit } from "../webhooks/emit.ts";
import { branchesAt } from "../queries/branches-at.ts";

export type CheckRunChange = Partial<
  Pick<
    CheckRunRow,
    | "name"
    | "status"
    | "conclusion"
    | "detailsUrl"
    | "externalId"
    | "startedAt"
    | "completedAt"
    | "output"
    | "annotations"
  >
>;

interface NewCheckRun extends CheckRunChange {
  readonly name: string;
  readonly headSha: string;
  readonly appId: number;
  /** By default, the App's suite on the commit. */
  readonly suiteId?: number;
}

/** Creates a check run. */
export async function createCheckRun(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  { suiteId, ...given }: NewCheckRun,
): Promise<CheckRunRow> {
  const suite =
    suiteId === undefined
      ? await findOrCreateSuite(forge, repository, given.headSha, given.appId)
      : forge.state.checkSuites.need(suiteId);
  const row = forge.state.checkRuns.save({
    status: "queued",
    conclusion: null,
    detailsUrl: null,
    externalId: "",
    startedAt: forge.now(),
    completedAt: null,
    output: { title: null, summary: null, text: null },
    annotations: [],
    ...given,
    id: forge.state.newId(),
    repositoryId: repository.id,
    suiteId: suite.id,
  });
  await emitCheckRun(forge, repository, row, suite, "created", by);
  if (row.status === "completed") await emitCompleted(forge, repository, row, suite, by);
  return row;
}

export async function updateCheckRun(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  run: CheckRunRow,
  change: CheckRunChange,
): Promise<CheckRunRow> {
  const row = forge.state.checkRuns.update(run.id, change);
  const suite = forge.state.checkSuites.update(run.suiteId, { updatedAt: forge.now() });
  if (row.status === "completed" && (run.status !== "completed" || row.conclusion !== run.conclusion))
    await emitCompleted(forge, repository, row, suite, by);
  return row;
}

/** Returns the suite of an App on a commit, created if missing. */
export async function findOrCreateSuite(
  forge: ForgeContext,
  repository: RepositoryRow,
  headSha: string,
  appId: number,
): Promise<CheckSuiteRow> {
  const key = commitKey(repository.id, headSha);
  const known = forge.state.checkSuites
    .inGroup(key)
    .find((each) => each.appId === appId && !each.workflowRun && !each.conclusion);
  return known ?? (await createSuite(forge, repository, headSha, { appId }));
}

/** Creates a check suite of its own, also if the App has one on the commit. */
export async function createSuite(
  forge: ForgeContext,
  repository: RepositoryRow,
  headSha: string,
  given: Pick<CheckSuiteRow, "appId" | "workflowRun" | "conclusion">,
): Promise<CheckSuiteRow> {
  const branches = await branchesAt(forge, repository, headSha, "tip");
  const commit = await needCommit(forge.git.repository(repository.id), headSha);
  const now = forge.now();
  return forge.state.checkSuites.save({
    id: forge.state.newId(),
    repositoryId: repository.id,
    headSha,
    headBranch:
      branches.find((each) => each.name !== repository.defaultBranch)?.name ?? branches[0]?.name ?? null,
    ...given,
    before: commit.parents[0] ?? null,
    createdAt: now,
    updatedAt: now,
  });
}

async function emitCompleted(
  forge: ForgeContext,
  repository: RepositoryRow,
  run: CheckRunRow,
  suite: CheckSuiteRow,
  by: AccountRow,
): Promise<void> {
  await emitCheckRun(forge, repository, run, suite, "completed", by);
  scheduleAutoMerges(forge, repository.id);
  if (suiteState(forge, suite).status !== "completed") return;
  await emitCheckSuite(forge, repository, suite, "completed", by);
}

/** Asks the App of a check run to run it again, which creates a new run. */
export async function rerequestCheckRun(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  run: CheckRunRow,
): Promise<void> {
  const suite = forge.state.checkSuites.need(run.suiteId);
  await emitCheckRun(forge, repository, run, suite, "rerequested", by);
}

export const rerequestCheckSuite = (
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  suite: CheckSuiteRow,
): Promise<void> => emitCheckSuite(forge, repository, suite, "rerequested", by);

export async function emitCheckSuite(
  forge: ForgeContext,
  repository: RepositoryRow,
  suite: CheckSuiteRow,
  action: "completed" | "rerequested",
  sender: AccountRow,
): Promise<void> {
  const payload = async () => {
    const head = await needCommit(forge.git.repository(repository.id), suite.headSha);
    const { repository: _repository, ...shown } = presentCheckSuite(forge, repository, suite, head);
    return { check_suite: shown };
  };
  await emit(forge, { event: "check_suite", action, repository, sender, payload });
}

async function emitCheckRun(
  forge: ForgeContext,
  repository: RepositoryRow,
  run: CheckRunRow,
  suite: CheckSuiteRow,
  action: "created" | "completed" | "rerequested",
  sender: AccountRow,
): Promise<void> {
  const payload = () => ({
    check_run: {
      ...presentCheckRun(forge, repository, run),
      check_suite: presentSuiteOfRun(forge, repository, suite),
    },
  });
  await emit(forge, { event: "check_run", action, repository, sender, payload });
}
