import { randomInt } from "node:crypto";
import type { Db } from "../src/store/db/connect.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";

/** With almost four more per card below, 5,000 cards have 50,000 timeline rows. */
const EVENTS_PER_CARD = 6;

/** When a card reached the last stage: one after another over a year. `c` is a row of `cards`. */
const DELIVERED = "now() - (365.0 * c.number / :cards) * interval '1 day'";
/** A merged pull request has the number of its card. A tenth of the cards has none. */
const IS_MERGED = "c.number % 10 <> 0";
/** The repository of a card, one of two. */
const REPOSITORY = "(:repositoryIds::uuid[])[1 + c.number % 2]";
const MERGE_SHA = "lpad(c.number::text, 40, 'a')";

/**
 * Creates a board with a year of history: two repositories with many landings a day, half of them
 * from pull requests of cards, merged by Trunkline or others; moved, refused and finished cards; a
 * release completed every other week, and two open ones; a description on every card, and a page for
 * every tenth.
 */
export async function seedHistory(db: Db, cards: number): Promise<BenchBoard> {
  const board = await seedBoard(db, cards, "history", EVENTS_PER_CARD);
  const { workspaceId, projectId, userId, stages } = board;
  const forgeId = randomInt(1_000_000, 2_000_000_000);
  const inserted: { rows: { id: string }[] } = await db.raw(
    `insert into repositories (id, organization_id, project_id, forge_id, full_name, default_branch)
     select gen_random_uuid(), w.organization_id, :projectId, :forgeId::bigint + n, 'acme/r' || :forgeId::bigint + n, 'main'
       from workspaces w, generate_series(1, 2) n where w.id = :workspaceId returning id`,
    { workspaceId, projectId, forgeId },
  );
  const bindings = {
    workspaceId,
    projectId,
    userId,
    cards,
    repositoryIds: inserted.rows.map(({ id }) => id),
    backlog: stages[0]?.id ?? "",
    doing: stages[2]?.id ?? "",
    done: stages.at(-1)?.id ?? "",
  };
  for (const sql of [...WORK, ...LANDINGS, ...RELEASES, ...TEXTS]) await db.raw(sql, bindings);
  return board;
}

const EVENT = `insert into timeline_items (id, card_id, type, kind, actor_id, login, repository_id, data, at, natural_key)
  select gen_random_uuid(), c.id, 'event', `;
const BLOCKED = `jsonb_build_object('reason', 'checks_failing', 'message', 'Checks are failing.', 'repository', 'acme/r1',
          'reasons', jsonb_build_array(jsonb_build_object('reason', 'checks_failing', 'message', 'Checks are failing.',
                                                          'repository', 'acme/r1', 'details', '{}'::jsonb)),
          'statusId', :done::text, 'headSha', null, 'at', '2026-01-01T00:00:00.000Z')`;
const WORK = [
  `insert into card_repositories (card_id, repository_id, project_id, branch_name)
   select c.id, ${REPOSITORY}, c.project_id, 'card/' || c.number from cards c where c.project_id = :projectId and ${IS_MERGED}`,
  `insert into pull_requests (repository_id, number, card_id, node_id, target_branch, state, head_sha, merge_sha)
   select ${REPOSITORY}, c.number, c.id, 'PR', 'main', 'merged', ${MERGE_SHA}, ${MERGE_SHA}
     from cards c where c.project_id = :projectId and ${IS_MERGED}`,
  `${EVENT} 'status_changed', :userId, null, null, jsonb_build_object('from', :backlog::text, 'to', :doing::text),
          ${DELIVERED} - interval '5 days', null from cards c where c.project_id = :projectId`,
  `${EVENT} 'promotion_refused', :userId, null, null, ${BLOCKED}, ${DELIVERED} - interval '1 hour', null
     from cards c where c.project_id = :projectId and c.number % 7 = 0`,
  `${EVENT} 'pull_request_merged', :userId, case when c.number % 3 = 0 then 'ada' end, ${REPOSITORY},
          jsonb_build_object('prNumber', c.number, 'targetBranch', 'main'), ${DELIVERED},
          'pull_request_merged:' || ${REPOSITORY} || ':' || c.number
     from cards c where c.project_id = :projectId and ${IS_MERGED}`,
  `${EVENT} 'status_changed', :userId, null, null, jsonb_build_object('from', :doing::text, 'to', :done::text), ${DELIVERED}, null
     from cards c where c.project_id = :projectId and ${IS_MERGED}`,
  // Every twentieth card has been inactive for long.
  `${EVENT} 'updated', :userId, null, null, '{"fields":["title"]}', now(), null
     from cards c where c.project_id = :projectId and c.number % 20 <> 0`,
];

const LANDING = `insert into landings (repository_id, branch_name, key, sha, title, at, author_login, pr_number, is_revert, reverts_sha) select `;
const LANDINGS = [
  `insert into trunks (repository_id, branch_name, head_sha, known_since)
   select unnest(:repositoryIds::uuid[]), 'main', repeat('a', 40), now() - interval '1 year'`,
  `${LANDING} ${REPOSITORY}, 'main', '#' || c.number, ${MERGE_SHA}, c.title, ${DELIVERED}, 'ada', c.number, false, null
     from cards c where c.project_id = :projectId and ${IS_MERGED} order by c.number desc`,
  `${LANDING} ${REPOSITORY}, 'main', lpad(c.number::text, 40, 'b'), lpad(c.number::text, 40, 'b'), 'Pushed ' || c.number,
          ${DELIVERED}, 'grace', null, c.number % 50 = 0, case when c.number % 50 = 0 then repeat('c', 40) end
     from cards c where c.project_id = :projectId order by c.number desc`,
];

const RELEASE = `insert into releases (id, project_id, name, slug, created_by, status, completed_at) select gen_random_uuid(), :projectId, `;
const RELEASES = [
  `${RELEASE} 'R' || n, 'r' || n, :userId, 'completed', now() - n * interval '14 days' from generate_series(1, 26) n`,
  `${RELEASE} 'Open ' || n, 'open-' || n, :userId, 'open', null from generate_series(1, 2) n`,
  // A completed release has the cards of its two weeks, an open one has 50 cards.
  `insert into release_cards (release_id, card_id, is_open)
   select r.id, c.id, false from releases r join cards c on c.project_id = r.project_id
    where r.project_id = :projectId and r.status = 'completed' and ${IS_MERGED} and c.number % 26 + 1 = cast(substr(r.slug, 2) as integer)`,
  `insert into release_cards (release_id, card_id)
   select r.id, c.id from releases r
    join cards c on c.project_id = r.project_id and c.number % 10 = 0 and c.number / 500 + 1 = cast(substr(r.slug, 6) as integer)
    where r.project_id = :projectId and r.status = 'open'`,
  `insert into release_tags (release_id, repository_id, tag_name, sha, url)
   select r.id, repository_id, r.slug, repeat('d', 40), 'https://example.com' from releases r, unnest(:repositoryIds::uuid[]) repository_id
    where r.project_id = :projectId and r.status = 'completed'`,
];

/** Words out of a thousand, different in each row. */
const words = (n: string, count: number): string =>
  `(select string_agg('word' || ((${n} * 7919 + k * 104729) % 1000), ' ') from generate_series(1, ${count}) k)`;
const TEXTS = [
  `update cards set description = ${words("number", 30)} where project_id = :projectId`,
  `insert into pages (id, workspace_id, title, slug, rank, body, created_by, updated_by)
   select gen_random_uuid(), :workspaceId, 'Page ' || n, 'page-' || n, 'a' || lpad(n::text, 6, '0') || '1',
          ${words("n", 300)}, :userId, :userId from generate_series(1, :cards::int / 10) n`,
];
