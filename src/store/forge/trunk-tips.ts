import { firstRow, type Db } from "../db/connect.ts";

interface TrunkKey {
  readonly repositoryId: string;
  readonly branchName: string;
}

/** Tips are compared with the forge once an hour: one that was neither heard of nor compared for longer is nobody's word. */
const TRUSTED_FOR = "2 hours";

/** The commit a trunk branch was last heard to be at; null where nobody told, or what was told does not fit together. */
export async function findTip(db: Db, { repositoryId, branchName }: TrunkKey): Promise<string | null> {
  const trunk = await firstRow<{ sha: string }>(
    db,
    `select tip_sha as sha from trunks
      where repository_id = :repositoryId and branch_name = :branchName
        and tip_sha is not null and tip_at > now() - interval '${TRUSTED_FOR}'`,
    { repositoryId, branchName },
  );
  return trunk?.sha ?? null;
}

/** Hears of a push. One that does not follow on what was heard before leaves the tip in doubt until the forge is asked. */
export async function hearOfTip(
  db: Db,
  trunk: TrunkKey & { readonly before: string | null; readonly after: string | null },
): Promise<void> {
  const { repositoryId, branchName, before, after } = trunk;
  await db.raw(
    `update trunks set tip_sha = case when tip_sha in (:before, :after) then :after end, tip_at = now()
      where repository_id = :repositoryId and branch_name = :branchName`,
    { repositoryId, branchName, before, after },
  );
}

/** Something has become of a repository itself: what was heard of its branches is to be asked again. */
export async function doubtTips(db: Db, repositoryId: string): Promise<void> {
  await db("trunks").where({ repository_id: repositoryId }).update({ tip_sha: null });
}

/** We have merged into a branch: until the push is heard of, what was heard before is older than what we know. */
export async function doubtTip(db: Db, trunk: TrunkKey, mergeSha: string | null): Promise<void> {
  await db("trunks")
    .where({ repository_id: trunk.repositoryId, branch_name: trunk.branchName })
    .whereRaw("tip_sha is distinct from ?", [mergeSha])
    .update({ tip_sha: null });
}

/**
 * Takes the forge's word for a tip, unless something was heard while it was asked: `heard` is what was known before. Where the forge shows
 * another commit that is not known to be later, one of the two is old, and the tip is in doubt.
 */
export async function confirmTip(
  db: Db,
  trunk: TrunkKey,
  told: { readonly heard: string | null; readonly shown: string; readonly isLater: boolean },
): Promise<void> {
  const { heard, shown, isLater } = told;
  await db("trunks")
    .where({ repository_id: trunk.repositoryId, branch_name: trunk.branchName })
    .whereRaw("tip_sha is not distinct from ?", [heard])
    .update({ tip_sha: heard === null || heard === shown || isLater ? shown : null, tip_at: db.fn.now() });
}
