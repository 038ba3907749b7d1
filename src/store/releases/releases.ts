import { column, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { partOf, rowsToRead, type Part, type Window } from "../db/window.ts";
import { RELEASE_REPOSITORIES, type ReleaseRepository } from "./release-branches.ts";
import { RELEASE_CARDS, type ReleaseCard } from "./release-cards.ts";

export interface ReleaseTag extends WrittenTag {
  readonly fullName: string;
}

/** A release as the API shows it. */
export interface Release {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly status: "open" | "completed";
  /** When its branches were cut; null while it is not frozen. */
  readonly frozenAt: Date | null;
  readonly taskCount: number;
  readonly createdByName: string;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  readonly tags: readonly ReleaseTag[];
}

const COLUMNS = `
  r.id, r.project_id as "projectId", r.name, r.status, r.frozen_at as "frozenAt",
  (select count(*) from release_cards rc where rc.release_id = r.id) as "taskCount",
  u.name as "createdByName", r.created_at as "createdAt", r.completed_at as "completedAt",
  coalesce((select json_agg(json_build_object('repositoryId', t.repository_id, 'fullName', p.full_name,
                              'tagName', t.tag_name, 'sha', t.sha, 'url', t.url) order by p.full_name)
              from release_tags t join repositories p on p.id = t.repository_id
             where t.release_id = r.id), '[]') as tags`;

const RELEASE = `select ${COLUMNS} from releases r join users u on u.id = r.created_by`;

/** The releases of a project, the newest first, keyed by id. */
export async function listReleases(
  db: Db,
  projectId: string,
  window: Window<string>,
): Promise<Part<Release, string>> {
  const found = await rows<Release>(
    db,
    `${RELEASE} where r.project_id = :projectId and (cast(:after as uuid) is null or r.id < :after)
      order by r.id desc limit :limit`,
    { projectId, after: window.after, limit: rowsToRead(window) },
  );
  return partOf(found, window, ({ id }) => id);
}

/** A release by its id, which is known to be the board's. */
export async function readRelease(db: Db, releaseId: string): Promise<Release> {
  const found = await firstRow<Release>(db, `${RELEASE} where r.id = :releaseId`, { releaseId });
  if (!found) throw new Error(`release ${releaseId} is gone`);
  return found;
}

export interface ReleaseDetails extends Release {
  readonly cards: readonly ReleaseCard[];
  readonly repositories: readonly ReleaseRepository[];
}

/** A release of this board with its cards and repositories, or null. */
export async function readReleaseDetails(
  db: Db,
  workspaceId: string,
  releaseId: string,
): Promise<ReleaseDetails | null> {
  return firstRow<ReleaseDetails>(
    db,
    `select ${COLUMNS}, ${RELEASE_CARDS} as cards, ${RELEASE_REPOSITORIES} as repositories
       from releases r join users u on u.id = r.created_by
       join projects b on b.id = r.project_id and b.workspace_id = :workspaceId
      where r.id = :releaseId`,
    { workspaceId, releaseId },
  );
}

/** What an action needs to know of a release before it changes it. */
export interface ReleaseHead {
  readonly id: string;
  readonly workspaceId: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly status: "open" | "completed";
  readonly frozenAt: Date | null;
  /** Whether its flow still works with releases. */
  readonly isUsed: boolean;
}

const HEAD = `
  select r.id, p.workspace_id as "workspaceId", r.project_id as "projectId", r.name, r.slug, r.status,
         r.frozen_at as "frozenAt", p.releases as "isUsed"
    from releases r join projects p on p.id = r.project_id`;

/** A release of this board, or null. */
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
 * The open releases of a project, held until the transaction ends: their scopes and states stay as
 * they are. Who needs cards' rows as well takes those first.
 */
export async function holdOpenReleases(trx: Trx, projectId: string): Promise<ReleaseHead[]> {
  const bindings = { projectId };
  // First the lock, then the look: what is read by the statement that waits is as old as its start.
  await rows(
    trx,
    "select id from releases where project_id = :projectId and status = 'open' order by id for update",
    bindings,
  );
  return rows<ReleaseHead>(
    trx,
    `${HEAD} where r.project_id = :projectId and r.status = 'open' order by r.id`,
    bindings,
  );
}

/** The slugs of a project's releases. The project's row is held by the caller. */
export async function listReleaseSlugs(db: Db, projectId: string): Promise<Set<string>> {
  return new Set(
    await column<string>(db, "select slug from releases where project_id = :projectId", {
      projectId,
    }),
  );
}

export async function insertRelease(
  db: Db,
  release: { id: string; projectId: string; name: string; slug: string; createdBy: string },
): Promise<void> {
  const { id, projectId, name, slug, createdBy } = release;
  await db("releases").insert({ id, project_id: projectId, name, slug, created_by: createdBy });
}

/** Removes a release with its scope; its cards stay. */
export async function removeRelease(db: Db, releaseId: string): Promise<void> {
  await db("releases").where({ id: releaseId }).delete();
}

/** Freezes the scope of a release; a frozen release keeps its time. */
export async function freezeScope(db: Db, releaseId: string): Promise<void> {
  await db("releases").where({ id: releaseId, frozen_at: null }).update({ frozen_at: db.fn.now() });
}

/** Unfreezes the scope of a release. */
export async function unfreezeScope(db: Db, releaseId: string): Promise<void> {
  await db("releases").where({ id: releaseId }).update({ frozen_at: null });
  await db("release_cards").where({ release_id: releaseId }).update({ picked_at: null });
}

interface WrittenTag {
  readonly repositoryId: string;
  readonly tagName: string;
  readonly sha: string;
  /** The page of its GitHub release; null before that is published. */
  readonly url: string | null;
}

/** The tags written for a release so far. */
export async function listReleaseTags(db: Db, releaseId: string): Promise<WrittenTag[]> {
  return rows<WrittenTag>(
    db,
    `select repository_id as "repositoryId", tag_name as "tagName", sha, url from release_tags
      where release_id = :releaseId`,
    { releaseId },
  );
}

/** Saves a tag, and the page of its GitHub release once there is one. */
export async function saveReleaseTag(
  db: Db,
  releaseId: string,
  { repositoryId, tagName, sha, url }: WrittenTag,
): Promise<void> {
  await db("release_tags")
    .insert({ release_id: releaseId, repository_id: repositoryId, tag_name: tagName, sha, url })
    .onConflict(["release_id", "repository_id"])
    .merge(["tag_name", "sha", "url"]);
}

/** A card as the notes of a GitHub release list it. */
export interface CarriedCard {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  /** Whether it is at the end of the flow. */
  readonly isDone: boolean;
  /** Its merged pull requests. `isLater`: merged after the branch was cut, and not picked. */
  readonly pullRequests: readonly {
    readonly repositoryId: string;
    readonly number: number;
    readonly isLater: boolean;
  }[];
}

/**
 * Whether the pull request `p` landed after the release's branch was cut, by the known landings.
 */
const IS_LATER = `
  exists (select 1 from release_branches b
            join landings cut on cut.repository_id = b.repository_id and cut.branch_name = p.target_branch and cut.sha = b.cut_sha
            join landings own on own.repository_id = cut.repository_id and own.branch_name = cut.branch_name
             and (own.key = '#' || p.number or own.sha = p.merge_sha)
           where b.release_id = :releaseId and b.repository_id = p.repository_id and own.seq > cut.seq)`;

/** What a release carries, by card number. */
export async function listCarriedCards(db: Db, releaseId: string): Promise<CarriedCard[]> {
  return rows<CarriedCard>(
    db,
    `select c.id, c.number, c.title, s.kind = 'done' as "isDone",
            coalesce((select json_agg(json_build_object('repositoryId', p.repository_id, 'number', p.number,
                                        'isLater', rc.picked_at is null and ${IS_LATER}) order by p.number)
                        from pull_requests p where p.card_id = c.id and p.state = 'merged'), '[]') as "pullRequests"
       from release_cards rc join cards c on c.id = rc.card_id join stages s on s.id = c.stage_id
      where rc.release_id = :releaseId order by c.number`,
    { releaseId },
  );
}

/** Completes a release: it still lists its cards, which may now join another release. */
export async function completeScope(trx: Trx, releaseId: string): Promise<void> {
  await trx("releases").where({ id: releaseId }).update({ status: "completed", completed_at: trx.fn.now() });
  await trx("release_cards").where({ release_id: releaseId }).update({ is_open: false });
}
