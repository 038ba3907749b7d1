import { column, columnsOf, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { readPage, type ListSlice, type ListWindow } from "../db/list-window.ts";
import { RELEASE_REPOSITORIES } from "./release-branches.ts";
import { RELEASE_CARDS } from "./release-cards.ts";

/** SQL for a release as the API shows it. */
const COLUMNS = `
  r.id, r.project_id as "projectId", r.name, r.status, r.frozen_at as "frozenAt",
  (select count(*) from release_cards rc where rc.release_id = r.id) as "taskCount",
  (select count(*) from release_cards rc where rc.release_id = r.id and rc.is_missing) as "missingCount",
  u.name as "createdByName", r.created_at as "createdAt", r.completed_at as "completedAt",
  coalesce((select json_agg(json_build_object('repositoryId', t.repository_id, 'fullName', p.full_name,
                              'tagName', t.tag_name, 'sha', t.sha, 'url', t.url) order by p.full_name)
              from release_tags t join repositories p on p.id = t.repository_id
             where t.release_id = r.id), '[]') as tags`;

const RELEASE = `select ${COLUMNS} from releases r join users u on u.id = r.created_by`;

/** Lists the releases of a project, the newest first. The key is the id. */
export async function listReleases(
  db: Db,
  projectId: string,
  window: ListWindow<string>,
): Promise<ListSlice<object, string>> {
  return readPage<{ readonly id: string }, string>(db, window, {
    sql: `${RELEASE} where r.project_id = :projectId and (cast(:after as uuid) is null or r.id < :after)
      order by r.id desc`,
    bindings: { projectId, after: window.after },
    bytes: "octet_length(tags::text)",
    keyOf: ({ id }) => id,
  });
}

/** Throws if the release does not exist. The caller has checked that it belongs to the board. */
export async function readRelease(db: Db, releaseId: string): Promise<object> {
  const found = await firstRow<object>(db, `${RELEASE} where r.id = :releaseId`, { releaseId });
  if (!found) throw new Error(`There is no release ${releaseId}.`);
  return found;
}

export async function readReleaseDetails(
  db: Db,
  workspaceId: string,
  releaseId: string,
): Promise<object | null> {
  return firstRow<object>(
    db,
    `select ${COLUMNS}, ${RELEASE_CARDS} as cards, ${RELEASE_REPOSITORIES} as repositories
       from releases r join users u on u.id = r.created_by
       join projects b on b.id = r.project_id and b.workspace_id = :workspaceId
      where r.id = :releaseId`,
    { workspaceId, releaseId },
  );
}

/** What an action reads of a release before it changes it. */
export interface ReleaseHead {
  readonly id: string;
  readonly workspaceId: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly status: "open" | "completed";
  readonly frozenAt: Date | null;
  /** Whether the flow of its project uses releases. */
  readonly isTurnedOn: boolean;
}

const HEAD = `
  select r.id, p.workspace_id as "workspaceId", r.project_id as "projectId", r.name, r.slug, r.status,
         r.frozen_at as "frozenAt", p.releases as "isTurnedOn"
    from releases r join projects p on p.id = r.project_id`;

export async function findRelease(
  db: Db,
  workspaceId: string,
  releaseId: string,
): Promise<ReleaseHead | null> {
  return firstRow<ReleaseHead>(db, `${HEAD} where p.workspace_id = :workspaceId and r.id = :releaseId`, {
    workspaceId,
    releaseId,
  });
}

/**
 * Lists the open releases of a project and locks them and their scopes until the transaction ends.
 * A caller that also locks cards must lock them first.
 */
export async function lockOpenReleases(trx: Trx, projectId: string): Promise<ReleaseHead[]> {
  // Two statements, because one that waits for a lock reads the state at its start.
  const lock =
    "select id from releases where project_id = :projectId and status = 'open' order by id for update";
  const read = `${HEAD} where r.project_id = :projectId and r.status = 'open' order by r.id`;
  await rows(trx, lock, { projectId });
  return rows<ReleaseHead>(trx, read, { projectId });
}

/** The caller has locked the project. */
export async function listReleaseSlugs(db: Db, projectId: string): Promise<Set<string>> {
  const slugs = "select slug from releases where project_id = :projectId";
  return new Set(await column<string>(db, slugs, { projectId }));
}

export async function insertRelease(
  db: Db,
  release: { id: string; projectId: string; name: string; slug: string; createdBy: string },
): Promise<void> {
  const { id, projectId, name, slug, createdBy } = release;
  await db("releases").insert({ id, project_id: projectId, name, slug, created_by: createdBy });
}

/** Deletes a release and its scope, but not its cards. */
export async function removeRelease(db: Db, releaseId: string): Promise<void> {
  await db("releases").where({ id: releaseId }).delete();
}

/** Freezes a release. A frozen release keeps the time of its freeze. */
export async function markFrozen(db: Db, releaseId: string): Promise<void> {
  await db("releases").where({ id: releaseId, frozen_at: null }).update({ frozen_at: db.fn.now() });
}

export async function markUnfrozen(db: Db, releaseId: string): Promise<void> {
  await db("releases").where({ id: releaseId }).update({ frozen_at: null });
  await db("release_cards").where({ release_id: releaseId }).update({ picked_at: null });
}

/** What a GitHub release was published with. */
export interface PublishedAs {
  readonly isPrerelease: boolean;
  /** Null if GitHub decided it. */
  readonly isLatest: boolean | null;
  /** Null if the notes list the cards. */
  readonly notes: string | null;
}

export interface WrittenTag {
  readonly repositoryId: string;
  readonly tagName: string;
  readonly sha: string;
  /** Stored before the GitHub release is published; null until then. */
  readonly publishedAs: PublishedAs | null;
  /** The page of the GitHub release; null until it is known to be published. */
  readonly url: string | null;
}

/** Lists the tags created for a release so far. */
export async function listReleaseTags(db: Db, releaseId: string): Promise<WrittenTag[]> {
  return rows<WrittenTag>(
    db,
    `select repository_id as "repositoryId", tag_name as "tagName", sha, published_as as "publishedAs", url
       from release_tags where release_id = :releaseId`,
    { releaseId },
  );
}

export async function saveReleaseTag(
  db: Db,
  releaseId: string,
  { repositoryId, tagName, sha, publishedAs, url }: WrittenTag,
): Promise<void> {
  await db("release_tags")
    .insert(
      columnsOf({
        releaseId,
        repositoryId,
        tagName,
        sha,
        publishedAs: publishedAs && JSON.stringify(publishedAs),
        url,
      }),
    )
    .onConflict(["release_id", "repository_id"])
    .merge(["tag_name", "sha", "published_as", "url"]);
}

/** Removes the tags of earlier attempts that were not published; they stay on GitHub. */
export async function removeUnpublishedTags(db: Db, releaseId: string): Promise<void> {
  await db("release_tags").where({ release_id: releaseId, url: null }).delete();
}

/** A merged pull request of a released card. */
export interface ReleasedPullRequest {
  readonly repositoryId: string;
  readonly number: number;
  readonly mergeSha: string | null;
  /**
   * Whether the branch to tag contains it. Null if only GitHub knows: it was merged into another
   * target, which may have reached that branch.
   */
  readonly isReleased: boolean | null;
}

/** A card in the notes of a GitHub release. */
export interface ReleasedCard {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  /** Whether it is at the end of the flow. */
  readonly isDone: boolean;
  readonly pullRequests: readonly ReleasedPullRequest[];
}

/**
 * SQL for whether the start of the release branch lacks the pull request `p`: it landed later, or only
 * on another target of the flow. A hotfix is not lacked if its back-merge was merged before the
 * freeze. Until the landings are known, the time of the merge decides, which GitHub rounds down to
 * seconds.
 */
const IS_LACKED_BY_START = `
  exists (select 1 from release_branches b join releases r on r.id = b.release_id
       left join (trunks tracked join landings start using (repository_id, branch_name))
                 on tracked.repository_id = b.repository_id and start.sha = b.start_sha
           where b.release_id = :releaseId and b.repository_id = p.repository_id
             and case when start.sha is null then p.event_at >= date_trunc('second', r.frozen_at)
                 when start.branch_name = p.target_branch
                 then coalesce((select max(own.seq) > start.seq from landings own
                                 where own.repository_id = start.repository_id and own.branch_name = start.branch_name
                                   and (own.key = '#' || p.number or own.sha = p.merge_sha)),
                               p.event_at >= date_trunc('second', r.frozen_at))
                 else exists (select 1 from trunks t
                               where t.repository_id = b.repository_id and t.branch_name = p.target_branch)
                  and not exists (select 1 from landings other
                                   where other.repository_id = b.repository_id and other.sha = b.start_sha
                                     and other.branch_name = p.target_branch)
                  and not exists (select 1 from backmerges m
                                   where m.card_id = p.card_id and m.repository_id = b.repository_id
                                     and m.target_branch = start.branch_name and m.cleared_at <= r.frozen_at)
                 end)`;

/**
 * SQL for whether the last target, which a release without a freeze tags, may lack the pull request `p`
 * of the card `c`: it was merged into another target, and the card has not reached the last one.
 */
const MAY_LACK = `
  s.kind <> 'done' and exists (
    select 1 from releases r
             join repositories g on g.id = p.repository_id
       cross join lateral (select coalesce(cast(:lastTarget as text), g.default_branch) as branch_name) tagged
             join trunks t on t.repository_id = p.repository_id and t.branch_name = p.target_branch
     where r.id = :releaseId and r.frozen_at is null and p.target_branch <> tagged.branch_name
       and not exists (select 1 from pull_requests other
                        where other.card_id = p.card_id and other.repository_id = p.repository_id
                          and other.target_branch = tagged.branch_name and other.state = 'merged')
       and not exists (select 1 from landings own
                        where own.repository_id = p.repository_id and own.branch_name = tagged.branch_name
                          and own.sha = p.merge_sha))`;

/**
 * Lists the cards of a release with their merged pull requests, by number. `lastTarget`: the last
 * target of the flow; null for the default branch of each repository.
 */
export async function listReleasedCards(
  db: Db,
  releaseId: string,
  lastTarget: string | null,
): Promise<ReleasedCard[]> {
  return rows<ReleasedCard>(
    db,
    `select c.id, c.number, c.title, s.kind = 'done' as "isDone",
            coalesce((select json_agg(json_build_object('repositoryId', p.repository_id, 'number', p.number,
                                        'mergeSha', p.merge_sha,
                                        'isReleased', case when rc.picked_at is not null then true
                                                           when ${IS_LACKED_BY_START} then false
                                                           when not (${MAY_LACK}) then true end) order by p.number)
                        from pull_requests p where p.card_id = c.id and p.state = 'merged'), '[]') as "pullRequests"
       from release_cards rc join cards c on c.id = rc.card_id join stages s on s.id = c.stage_id
      where rc.release_id = :releaseId order by c.number`,
    { releaseId, lastTarget },
  );
}

/**
 * Completes a release. It keeps its cards, which may now be added to another release. `missing`:
 * the numbers of the cards that the release does not contain.
 */
export async function markCompleted(trx: Trx, releaseId: string, missing: readonly number[]): Promise<void> {
  await trx("releases").where({ id: releaseId }).update({ status: "completed", completed_at: trx.fn.now() });
  await trx.raw(
    `update release_cards rc set is_open = false, is_missing = c.number = any(:missing)
       from cards c where c.id = rc.card_id and rc.release_id = :releaseId`,
    { releaseId, missing: [...missing] },
  );
}
