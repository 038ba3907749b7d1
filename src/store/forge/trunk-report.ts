import { firstRow, isoTime, type Db } from "../db/connect.ts";
import { readPage, type ListSlice, type ListWindow } from "../db/list-window.ts";
import { userKindSql } from "../tenancy/users.ts";
import { trunksSql } from "./trunks.ts";

interface ReportScope {
  readonly projectId: string;
  readonly begin: Date;
  /** Exclusive. */
  readonly end: Date;
}

/** The parts of the report as the API shows them. */
interface ReadReport {
  /** The cards whose last move in the window was to the end of the flow, the newest first. */
  readonly delivered: readonly { readonly leadTimeDays: number }[];
  /** The unfinished cards of open releases and of releases completed in the window. */
  readonly promised: readonly object[];
  /** The number of refused moves. */
  readonly refusals: number;
  /** The releases completed in the window, the newest first. */
  readonly releases: readonly object[];
  /** The landings on the trunk branches, the newest first. */
  readonly landings: readonly { readonly reverts: string | null }[];
}

/**
 * In the timeline, merges by Trunkline have no login. A commit may be dated before its parent. It
 * is listed above its parent nevertheless.
 */
const LANDINGS = `
  select r.full_name as "fullName", l.branch_name as "branchName", l.sha, l.title, l.author_login as author,
         coalesce(l.pr_number, p.number) as "prNumber",
         case when c.id is null then null else json_build_object('number', c.number, 'title', c.title) end as card,
         case when t.id is null then 'outside' else 'service' end as via,
         case when l.is_revert then l.reverts_sha end as reverts, ${isoTime("l.at")} as at
    from (${trunksSql("r.project_id = :projectId")}) trunk
    join repositories r on r.id = trunk.repository_id
    join landings l on l.repository_id = trunk.repository_id and l.branch_name = trunk.branch_name
     and l.at >= :begin and l.at < :end
    left join lateral (
      select p.number, p.card_id from pull_requests p
       where p.repository_id = l.repository_id and p.number = l.pr_number
      union all
      select p.number, p.card_id from pull_requests p
       where l.pr_number is null and p.repository_id = l.repository_id and p.merge_sha = l.sha and p.state = 'merged'
       limit 1) p on true
    left join cards c on c.id = p.card_id and c.project_id = :projectId and c.deleted_at is null
    left join timeline_items t on t.card_id = p.card_id and t.login is null
     and t.natural_key = 'pull_request_merged:' || l.repository_id || ':' || p.number
   order by max(l.at) over (partition by l.repository_id, l.branch_name order by l.seq) desc, l.seq desc`;

/** The events in the window that several parts of the report use. */
const EVENTS = `
  select t.card_id, t.kind, t.at, t.seq, t.data->>'to' as stage_id
    from cards c
    join timeline_items t on t.card_id = c.id and t.kind in ('status_changed', 'promotion_refused')
     and t.at >= :begin and t.at < :end
   where c.project_id = :projectId and c.deleted_at is null`;

const DELIVERED = `
  select c.number, c.title, ${isoTime("m.at")} as "deliveredAt",
         round(cast(extract(epoch from m.at - coalesce(started.at, c.created_at)) / 86400 as numeric), 4)::float8
           as "leadTimeDays",
         coalesce((select json_agg(json_build_object(
                            'fullName', r.full_name, 'targetBranch', p.target_branch, 'prNumber', p.number,
                            'sha', coalesce(p.merge_sha, l.sha), 'mergedBy', by.actor) order by r.full_name, p.number)
                     from pull_requests p
                     join repositories r on r.id = p.repository_id
                     left join landings l on l.repository_id = p.repository_id and l.branch_name = p.target_branch
                      and l.key = '#' || p.number and p.merge_sha is null
                     left join lateral (
                       select json_build_object('user', json_build_object('id', u.id, 'name', u.name, 'kind',
                                                  ${userKindSql("c.workspace_id", "u")}), 'login', t.login) as actor
                         from timeline_items t join users u on u.id = t.actor_id
                        where t.card_id = c.id
                          and t.natural_key = 'pull_request_merged:' || p.repository_id || ':' || p.number) by on true
                    where p.card_id = c.id and p.state = 'merged'), '[]') as repositories
    from (select distinct on (card_id) * from events where kind = 'status_changed'
           order by card_id, at desc, seq desc) m
    join stages s on s.id = cast(m.stage_id as uuid) and s.kind = 'done'
    join cards c on c.id = m.card_id
    left join lateral (
      select t.at from timeline_items t
        join stages b on b.project_id = c.project_id and b.kind = 'backlog'
       where t.card_id = c.id and t.kind = 'status_changed' and t.data->>'from' = cast(b.id as text)
       order by t.at limit 1) started on true
   order by m.at desc, m.seq desc`;

const PROMISED = `
  select c.number, c.title, r.id as "releaseId", r.name as "releaseName", c.stage_id as "statusId"
    from releases r
    join release_cards rc on rc.release_id = r.id
    join cards c on c.id = rc.card_id and c.deleted_at is null
    join stages s on s.id = c.stage_id and s.kind <> 'done'
   where r.project_id = :projectId
     and (r.status = 'open' or (r.completed_at >= :begin and r.completed_at < :end))
   order by r.id, c.number`;

const COMPLETED = `
  select r.id, r.name, ${isoTime("r.completed_at")} as "completedAt",
         coalesce((select json_agg(json_build_object('repositoryId', t.repository_id, 'fullName', p.full_name,
                                     'tagName', t.tag_name, 'sha', t.sha, 'url', t.url) order by p.full_name)
                     from release_tags t join repositories p on p.id = t.repository_id
                    where t.release_id = r.id), '[]') as tags,
         coalesce((select json_agg(json_build_object('number', c.number, 'title', c.title) order by c.number)
                     from release_cards rc join cards c on c.id = rc.card_id where rc.release_id = r.id), '[]') as cards
    from releases r
   where r.project_id = :projectId and r.completed_at >= :begin and r.completed_at < :end
   order by r.completed_at desc, r.id desc`;

const listOf = (sql: string): string => `coalesce((select json_agg(item) from (${sql}) item), '[]')`;

/** One statement, so that all parts are of one snapshot. The benchmark uses it as a baseline. */
export const TRUNK_REPORT = `
  with events as materialized (${EVENTS})
  select ${listOf(DELIVERED)} as delivered, ${listOf(PROMISED)} as promised,
         (select count(*) from events where kind = 'promotion_refused') as refusals,
         ${listOf(COMPLETED)} as releases, ${listOf(LANDINGS)} as landings`;

export async function readTrunkReport(db: Db, scope: ReportScope): Promise<ReadReport> {
  const report = await firstRow<ReadReport>(db, TRUNK_REPORT, { ...scope });
  if (!report) throw new Error("The trunk report returned no row.");
  return report;
}

interface ListedRefusal {
  readonly seq: number;
}

/** Lists the refused moves that the report counts, the newest first. The key is the number of the event. */
export async function listRefusals(
  db: Db,
  scope: ReportScope,
  window: ListWindow<number>,
): Promise<ListSlice<object, number>> {
  const { items, next } = await readPage<ListedRefusal, number>(db, window, {
    sql: `select t.id, t.seq, c.number, c.title, t.data as refusal
            from cards c
            join timeline_items t on t.card_id = c.id and t.kind = 'promotion_refused'
             and t.at >= :begin and t.at < :end
           where c.project_id = :projectId and c.deleted_at is null
             and (cast(:after as bigint) is null or t.seq < :after)
           order by t.seq desc`,
    bindings: { ...scope, after: window.after },
    bytes: "octet_length(refusal::text)",
    keyOf: ({ seq }) => seq,
  });
  return { items: items.map(({ seq: _seq, ...item }) => item), next };
}
