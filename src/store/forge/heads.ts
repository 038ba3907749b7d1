import type { AccountFacts, HeadFacts } from "../../flow/facts.ts";
import { rows, type Db } from "../db/connect.ts";

/** The head of a card's branch in a repository. */
export interface Head {
  readonly repositoryId: string;
  readonly branchName: string;
  readonly sha: string;
  /** The open pull request, or null. */
  readonly prNumber: number | null;
  readonly targetBranch: string;
}

/** How many of the pull requests merged last into a target show whether it has checks. */
const MERGED = 5;

interface Row extends Omit<HeadFacts, "pushers" | "lastPusher"> {
  readonly repositoryId: string;
  /** Who pushed and what, the first push first. */
  readonly pushes: readonly (AccountFacts & { readonly isHead: boolean })[];
}

/**
 * What is recorded about the heads of a card's branches, by repository id. The age counts from
 * GitHub's time of the push; without a push, from when the head was stored or the move was armed.
 */
export async function readHeads(
  db: Db,
  cardId: string,
  heads: readonly Head[],
): Promise<ReadonlyMap<string, HeadFacts>> {
  if (heads.length === 0) return new Map();
  const found = await rows<Row>(
    db,
    `with pushes as (
       select t.repository_id, t.actor_id, t.at, t.seq, t.data->>'after' as after, t.data->>'branchName' as "branchName"
         from timeline_items t where t.card_id = :cardId and t.kind = 'pushed')
     select h."repositoryId",
            cast(extract(epoch from now() - least(
              coalesce((select max(t.at) from pushes t where t.repository_id = h."repositoryId" and t.after = h.sha),
                       case when cr.head_sha = h.sha then cr.changed_at end),
              (select a.created_at from armed_moves a
                where a.card_id = :cardId and a.armed_with->cast(h."repositoryId" as text)->>'sha' = h.sha)
            )) * 1000 as double precision) as "ageMs",
            case when exists (select 1 from pull_requests p where p.repository_id = h."repositoryId"
                                 and p.number = h."prNumber" and p.state = 'draft') then 0 else
            (select cast(extract(epoch from now() - max(t.at)) * 1000 as double precision) from timeline_items t
              where t.card_id = :cardId and t.kind = 'pull_request_ready' and t.repository_id = h."repositoryId"
                and t.data->>'prNumber' = cast(h."prNumber" as text)) end as "readyAgeMs",
            (exists (select 1 from pushes t join check_reports k on k.repository_id = t.repository_id and k.sha = t.after
                      where t.repository_id = h."repositoryId" and t.after <> h.sha)
             or exists (select 1 from (select p.repository_id, p.head_sha from pull_requests p
                                        where p.repository_id = h."repositoryId" and p.state = 'merged'
                                          and p.target_branch = h."targetBranch"
                                        order by p.changed_at desc limit ${MERGED}) m
                          join check_reports k on k.repository_id = m.repository_id and k.sha = m.head_sha))
              as "hadChecks",
            (select coalesce(json_agg(json_build_object('forgeId', u.forge_account_id, 'login', coalesce(u.login, u.name),
                                                        'isHead', t.after = h.sha) order by t.at, t.seq), '[]')
               from pushes t join users u on u.id = t.actor_id
              where t.repository_id = h."repositoryId" and t."branchName" = h."branchName"
                and u.forge_account_id is not null and u.login is distinct from 'ghost') as pushes
       from jsonb_to_recordset(cast(:heads as jsonb))
            h("repositoryId" uuid, "branchName" text, sha text, "prNumber" integer, "targetBranch" text)
       left join card_repositories cr on cr.card_id = :cardId and cr.repository_id = h."repositoryId"`,
    { cardId, heads: JSON.stringify(heads) },
  );
  return new Map(
    found.map(({ repositoryId, pushes, ...head }) => [repositoryId, { ...head, ...pushersOf(pushes) }]),
  );
}

const accountOf = ({ forgeId, login }: AccountFacts): AccountFacts => ({ forgeId, login });

function pushersOf(pushes: Row["pushes"]): Pick<HeadFacts, "pushers" | "lastPusher"> {
  const pushers = [...new Map(pushes.map((push) => [push.forgeId, accountOf(push)])).values()];
  const last = pushes.findLast(({ isHead }) => isHead);
  return { pushers, lastPusher: last ? accountOf(last) : null };
}
