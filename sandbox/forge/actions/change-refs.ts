import type { ForgeContext } from "../context.ts";
import {
  branchNameOf,
  readRef,
  shortRefName,
  updateRefs,
  type RefUpdate,
  type RefUpdateResult,
} from "../git/refs.ts";
import { presentPush, type RefChange } from "../present/push.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import { emit } from "../webhooks/emit.ts";
import { syncPullsIntoBranch, syncPullsFromBranch } from "./sync-pull-requests.ts";

/** GitHub sends no tag events if one push changes more tags than this. */
const MAX_TAG_EVENTS = 3;
/** The same limit for branches. */
const MAX_BRANCH_EVENTS = 5_000;

/** Changes refs, emits events and updates pull requests. Call inside `exclusively`. */
export async function changeRefs(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  updates: readonly RefUpdate[],
): Promise<RefUpdateResult> {
  const repo = forge.git.repository(repository.id);
  const changes = await Promise.all(
    updates.map(async ({ name, after }) => ({ name, before: await readRef(repo, name), after })),
  );
  const pinned = updates.map((update, index) => ({
    ...update,
    before: update.before === undefined ? (changes[index]?.before ?? null) : update.before,
  }));
  const result = await updateRefs(repo, pinned);
  if (result === "done") await handleRefChanges(forge, repository.id, by, changes);
  return result;
}

/** Emits events and updates pull requests after refs changed. Call inside `exclusively`. */
export async function handleRefChanges(
  forge: ForgeContext,
  repositoryId: number,
  by: AccountRow,
  all: readonly RefChange[],
): Promise<void> {
  const changes = all.filter(
    (each) => each.before !== each.after && /^refs\/(?:heads|tags)\//.test(each.name),
  );
  if (changes.length === 0) return;
  const repository = forge.state.repositories.update(repositoryId, {
    pushedAt: forge.now(),
    updatedAt: forge.now(),
  });
  const tags = changes.filter((each) => each.name.startsWith("refs/tags/"));
  const branches = changes.filter((each) => each.name.startsWith("refs/heads/"));
  if (tags.length <= MAX_TAG_EVENTS) for (const tag of tags) await emitRefChange(forge, repository, by, tag);
  for (const branch of branches) {
    recordPusher(forge, repositoryId, branchNameOf(branch.name), by);
    if (branches.length <= MAX_BRANCH_EVENTS) await emitRefChange(forge, repository, by, branch);
    await syncPullsFromBranch(forge, repository, by, branch);
  }
  for (const branch of branches) await syncPullsIntoBranch(forge, repository, by, branch);
}

async function emitRefChange(
  forge: ForgeContext,
  repository: RepositoryRow,
  sender: AccountRow,
  change: RefChange,
): Promise<void> {
  const kind = change.name.startsWith("refs/tags/") ? "tag" : "branch";
  const ref = {
    ref: shortRefName(change.name),
    ref_type: kind,
    pusher_type: "user",
  };
  if (change.before === null) {
    const payload = () => ({
      ...ref,
      master_branch: repository.defaultBranch,
      description: repository.description,
    });
    await emit(forge, { event: "create", action: null, repository, sender, payload });
  }
  if (change.after === null)
    await emit(forge, { event: "delete", action: null, repository, sender, payload: () => ref });
  const payload = () => presentPush(forge, repository, change, sender);
  await emit(forge, { event: "push", action: null, repository, sender, payload });
}

/** Records who changed a branch last. */
function recordPusher(
  forge: ForgeContext,
  repositoryId: number,
  branch: string,
  { id: pusherId }: AccountRow,
): void {
  const known = forge.state.branchPushes.inGroup(repositoryId).find((each) => each.branch === branch);
  const id = known?.id ?? forge.state.newId();
  forge.state.branchPushes.save({ id, repositoryId, branch, pusherId });
}
