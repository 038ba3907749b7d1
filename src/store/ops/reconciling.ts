import type { RepositoryRef } from "../../forge/values.ts";
import { firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import type { CheckReport } from "../forge/branches.ts";
import type { LinkedPullRequest } from "../forge/pull-requests.ts";
import { REF } from "../forge/repositories.ts";
import { IS_UNCONFIRMED_BRANCH } from "./intents.ts";

/** A card's branch that may still change, and its stored state. */
export interface KnownBranch {
  readonly cardId: string;
  readonly repositoryId: string;
  readonly forgeRef: RepositoryRef;
  readonly branchName: string;
  readonly headSha: string | null;
  /** Whether the card is blocked by conflicts there. */
  readonly isConflicting: boolean;
  readonly pullRequests: readonly Pick<LinkedPullRequest, "number" | "state" | "targetBranch" | "headSha">[];
}

/** Where a comparison continues: after this branch. */
export interface ComparisonPlace {
  readonly repositoryId: string;
  readonly branchName: string;
}

/** Lists the organizations with an installation, or one of them, and where to continue. */
export async function listOrganizationsToCompare(
  db: Db,
  organizationId: string | null,
): Promise<{ readonly id: string; readonly from: ComparisonPlace | null; readonly isReachable: boolean }[]> {
  return rows(
    db,
    `select id, reconcile_from as "from", ${REACHABLE} as "isReachable" from organizations
      where installation_id is not null and (cast(:organizationId as uuid) is null or id = :organizationId) order by id`,
    { organizationId },
  );
}

const REACHABLE = "(not suspended and refused is null)";

/**
 * Records that the comparison of an organization is pending because GitHub refuses its
 * installation. False if GitHub accepts it again; then nothing is recorded.
 */
export async function deferIfUnreachable(db: Db, organizationId: string, minAgeMs: number): Promise<boolean> {
  const isReachable = await firstValue<boolean>(
    db,
    `update organizations
        set deferred_comparison_min_age_ms = case when not ${REACHABLE} then least(deferred_comparison_min_age_ms, cast(:minAgeMs as integer)) end
      where id = :organizationId and installation_id is not null returning ${REACHABLE} as "isReachable"`,
    { organizationId, minAgeMs },
  );
  return !(isReachable ?? false);
}

/** Removes the pending comparison of an organization. Returns its `minAgeMs`, or null. */
export async function takeDeferredComparison(trx: Trx, organizationId: string): Promise<number | null> {
  return firstValue<number>(
    trx,
    `update organizations o set deferred_comparison_min_age_ms = null
       from organizations was
      where o.id = :organizationId and was.id = o.id and was.deferred_comparison_min_age_ms is not null
     returning was.deferred_comparison_min_age_ms as "minAgeMs"`,
    { organizationId },
  );
}

export async function saveComparisonPlace(
  db: Db,
  organizationId: string,
  place: ComparisonPlace | null,
): Promise<void> {
  await db("organizations")
    .where({ id: organizationId })
    .update({ reconcile_from: place && JSON.stringify(place) });
}

/**
 * Lists branches of unfinished cards and branches with an open pull request. Skips moving cards and
 * what changed less than `minAgeMs` ago: GitHub may still return older state. Null if GitHub refuses
 * the installation.
 */
export async function listBranchesToCompare(
  db: Db,
  organizationId: string,
  after: ComparisonPlace | null,
  { minAgeMs, limit }: { readonly minAgeMs: number; readonly limit: number },
): Promise<KnownBranch[] | null> {
  return allReachable(
    await rows<MaybeReachable<KnownBranch>>(
      db,
      `select cr.card_id as "cardId", cr.repository_id as "repositoryId", ${REF} as "forgeRef",
            cr.branch_name as "branchName", cr.head_sha as "headSha",
            coalesce(c.blocked->'reasons' @> jsonb_build_array(jsonb_build_object('reason', 'conflicts', 'repository', r.full_name)),
                     false) as "isConflicting",
            coalesce((select json_agg(json_build_object('number', p.number, 'state', p.state,
                                        'targetBranch', p.target_branch, 'headSha', p.head_sha))
                        from pull_requests p
                       where p.card_id = cr.card_id and p.repository_id = cr.repository_id), '[]') as "pullRequests"
       from card_repositories cr
       join repositories r on r.id = cr.repository_id
       join organizations o on o.id = r.organization_id
       join cards c on c.id = cr.card_id
       join stages s on s.id = c.stage_id
      where o.id = :organizationId and r.connected and c.deleted_at is null and cr.project_id is not null
        and cr.branch_name is not null
        and (cast(:repositoryId as uuid) is null
             or (cr.repository_id, cr.branch_name) > (cast(:repositoryId as uuid), cast(:branchName as text)))
        and cr.changed_at <= now() - :minAgeMs * interval '1 millisecond'
        and not exists (select 1 from operations m where m.card_id = c.id and m.state = 'running')
        and not exists (select 1 from pull_requests p
                         where p.card_id = cr.card_id and p.repository_id = cr.repository_id
                           and p.changed_at > now() - :minAgeMs * interval '1 millisecond')
        and (s.kind <> 'done'
             or exists (select 1 from pull_requests p
                         where p.card_id = cr.card_id and p.repository_id = cr.repository_id
                           and p.state in ('draft', 'open')))
      order by cr.repository_id, cr.branch_name limit :limit`,
      {
        organizationId,
        minAgeMs,
        limit,
        repositoryId: after?.repositoryId ?? null,
        branchName: after?.branchName ?? null,
      },
    ),
  );
}

/** `forgeRef` is null while GitHub refuses the installation. */
type MaybeReachable<T> = Omit<T, "forgeRef"> & { readonly forgeRef: RepositoryRef | null };

const allReachable = <T>(found: MaybeReachable<T>[]): T[] | null =>
  found.every(({ forgeRef }) => forgeRef !== null) ? (found as T[]) : null;

/** A branch of a card that may exist because the response to its creation was lost. */
interface UnconfirmedBranch {
  readonly cardId: string;
  readonly actorId: string;
  readonly repositoryId: string;
  readonly forgeRef: RepositoryRef;
  readonly branchName: string;
}

/**
 * Lists such branches of an organization, the oldest first. Skips moving cards and attempts less
 * than `minAgeMs` ago. Null if GitHub refuses the installation.
 */
export async function listUnconfirmedBranches(
  db: Db,
  organizationId: string,
  { minAgeMs, limit }: { readonly minAgeMs: number; readonly limit: number },
): Promise<UnconfirmedBranch[] | null> {
  return allReachable(
    await rows<MaybeReachable<UnconfirmedBranch>>(
      db,
      `select i.card_id as "cardId", i.actor_id as "actorId", i.repository_id as "repositoryId", ${REF} as "forgeRef", i.subject as "branchName"
       from forge_intents i
       join card_repositories cr on cr.card_id = i.card_id and cr.repository_id = i.repository_id
       join repositories r on r.id = i.repository_id
       join organizations o on o.id = r.organization_id
       join cards c on c.id = i.card_id
      where o.id = :organizationId and r.connected and c.deleted_at is null and cr.project_id is not null
        and cr.branch_name is null and ${IS_UNCONFIRMED_BRANCH}
        and i.created_at <= now() - :minAgeMs * interval '1 millisecond'
        and not exists (select 1 from operations m where m.card_id = c.id and m.state = 'running')
      order by i.created_at limit :limit`,
      { organizationId, minAgeMs, limit },
    ),
  );
}

export async function markReconciled(db: Db, repositoryIds: readonly string[]): Promise<void> {
  await db("repositories")
    .whereIn("id", [...repositoryIds])
    .update({ last_reconciled_at: db.fn.now() });
}

type FoundReport = Omit<CheckReport, "repositoryId" | "sha" | "appId" | "forgeId" | "branchNames"> & {
  readonly appId: number | null;
  /** Null for statuses. */
  readonly forgeId: number | null;
};

/**
 * Saves all reports on a commit that were read from GitHub, and deletes those of suites that a newer
 * suite replaces, or that have runs now. Keeps a stored report if it changed after `askedAt`, or if GitHub still shows the
 * same run as pending.
 */
export async function saveFoundReports(
  db: Db,
  commit: { readonly repositoryId: string; readonly sha: string },
  reports: readonly FoundReport[],
  askedAt: string,
): Promise<void> {
  for (const report of reports) await saveFoundReport(db, { ...commit, ...report, askedAt });
  await deleteReplacedReports(db, commit, reports, askedAt);
}

async function deleteReplacedReports(
  db: Db,
  commit: { readonly repositoryId: string; readonly sha: string },
  reports: readonly FoundReport[],
  askedAt: string,
): Promise<void> {
  await rows(
    db,
    `with found as (
       select * from unnest(cast(:names as text[]), cast(:appIds as bigint[]), cast(:suiteIds as bigint[]))
                  f(name, app_id, suite_id))
     delete from check_reports k
      where k.repository_id = :repositoryId and k.sha = :sha and k.source <> 'status'
        and k.changed_at <= cast(:askedAt as timestamptz)
        and (k.source = 'check_suite'
             or exists (select 1 from found f
                         where f.name = k.name and f.app_id = k.app_id and f.suite_id > k.suite_id))
        and not exists (select 1 from found f
                         where f.name = k.name and f.app_id = k.app_id and f.suite_id = k.suite_id)`,
    {
      ...commit,
      askedAt,
      names: reports.map(({ name }) => name),
      appIds: reports.map(({ appId }) => appId ?? 0),
      suiteIds: reports.map(({ suiteId }) => suiteId ?? 0),
    },
  );
}

async function saveFoundReport(
  db: Db,
  report: FoundReport & { readonly repositoryId: string; readonly sha: string; readonly askedAt: string },
): Promise<void> {
  await rows(
    db,
    `insert into check_reports as k (repository_id, sha, source, name, app_id, suite_id, forge_id, outcome)
     values (:repositoryId, :sha, :source, :name, coalesce(:appId, 0), coalesce(:suiteId, 0),
             coalesce(:forgeId, 0), :outcome)
     on conflict (repository_id, sha, source, name, app_id, suite_id) do update
       set forge_id = greatest(k.forge_id, excluded.forge_id), outcome = excluded.outcome, changed_at = now()
       where k.changed_at <= cast(:askedAt as timestamptz) and k.outcome <> excluded.outcome
         and (cast(:forgeId as bigint) is null or excluded.forge_id > k.forge_id
              or (excluded.forge_id = k.forge_id and excluded.outcome <> 'pending'))`,
    report,
  );
}

/** The ids of comments and reviews that the timeline lacks or has with another text. */
interface Unrecorded {
  readonly comments: ReadonlyMap<number, "new" | "changed">;
  readonly reviews: ReadonlySet<number>;
}

/** Finds what the timeline lacks of `shown`, except mirrors and comments that were deleted. */
export async function listUnrecorded(
  db: Db,
  cardId: string,
  repositoryId: string,
  shown: {
    readonly comments: readonly { readonly commentId: number; readonly body: string }[];
    readonly reviews: readonly { readonly reviewId: number; readonly state: string }[];
  },
): Promise<Unrecorded> {
  if (shown.comments.length + shown.reviews.length === 0) return { comments: new Map(), reviews: new Set() };
  const found = await rows<{ id: number; what: "new" | "changed" | "review" }>(
    db,
    `select s.id, case when t.id is null then 'new' else 'changed' end as what
       from unnest(cast(:commentIds as bigint[]), cast(:bodies as text[])) s(id, body)
       left join timeline_items t on t.card_id = :cardId
        and t.natural_key = 'comment:' || cast(:repositoryId as text) || ':' || s.id
      where (t.id is null or (t.deleted_at is null and t.body <> s.body))
        and not exists (select 1 from comment_mirrors m
                         where m.repository_id = :repositoryId and m.forge_comment_id = s.id)
      union all
     select s.id, 'review'
       from unnest(cast(:reviewIds as bigint[]), cast(:states as text[])) s(id, state)
      where not exists (select 1 from timeline_items t
                         where t.card_id = :cardId
                           and t.natural_key = 'review:' || cast(:repositoryId as text) || ':' || s.id || ':' || s.state)`,
    {
      cardId,
      repositoryId,
      commentIds: shown.comments.map(({ commentId }) => commentId),
      bodies: shown.comments.map(({ body }) => body),
      reviewIds: shown.reviews.map(({ reviewId }) => reviewId),
      states: shown.reviews.map(({ state }) => state),
    },
  );
  const comments = new Map<number, "new" | "changed">();
  const reviews = new Set<number>();
  for (const { id, what } of found) {
    if (what === "review") reviews.add(id);
    else comments.set(id, what);
  }
  return { comments, reviews };
}

/** A recorded comment that GitHub did not return. */
interface UnshownComment {
  readonly commentId: number;
  /** Whether it is the mirror of a comment that was written in Trunkline. */
  readonly isMirror: boolean;
}

/** The caller reads them one by one from GitHub; the next comparison continues. */
const UNSHOWN_AT_ONCE = 20;

/**
 * Lists the comments of a pull request with ids from `from` on that are not among `shown`, and that
 * were recorded before `changedBefore` and not deleted.
 */
export async function listCommentsNotShown(
  db: Db,
  cardId: string,
  repositoryId: string,
  asked: {
    readonly number: number;
    readonly shown: readonly number[];
    readonly from: number;
    readonly changedBefore: string;
  },
): Promise<UnshownComment[]> {
  return rows<UnshownComment>(
    db,
    `select k.id as "commentId", k."isMirror"
       from (select cast(split_part(t.natural_key, ':', 3) as bigint) as id, false as "isMirror" from timeline_items t
              where t.card_id = :cardId and t.repository_id = :repositoryId and t.type = 'comment' and t.login is not null
                and t.deleted_at is null and starts_with(t.natural_key, 'comment:') and t.data->>'prNumber' = :number
                and coalesce(t.event_at, t.at) <= cast(:changedBefore as timestamptz)
             union all
             select m.forge_comment_id, true from comment_mirrors m
               join timeline_items t on t.id = m.comment_id and t.card_id = :cardId
              where m.repository_id = :repositoryId and m.pr_number = cast(:number as integer) and not m.gone
                and m.forge_comment_id is not null and m.first_tried_at <= cast(:changedBefore as timestamptz)) k
      where k.id >= :from and k.id <> all(cast(:shown as bigint[]))
      order by k.id limit ${UNSHOWN_AT_ONCE}`,
    { cardId, repositoryId, ...asked, number: String(asked.number), shown: [...asked.shown] },
  );
}
