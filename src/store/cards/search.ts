import { rows, type Db } from "../db/connect.ts";
import type { TimelineActor } from "../events/event-kinds.ts";
import { userKindSql } from "../tenancy/users.ts";
import { matchesSql, SEARCH_WORDS, searchBindings, type SearchKind } from "./search-query.ts";

/** A card, page or comment that matches a search. */
export interface SearchResult {
  readonly kind: SearchKind;
  readonly id: string;
  /** The card's number, also for a comment. */
  readonly number: number | null;
  /** The page's slug. */
  readonly slug: string | null;
  readonly title: string;
  /** Plain text around the first word found. */
  readonly snippet: string;
  readonly author: TimelineActor;
  readonly at: Date;
}

/** The numbers of characters in a snippet, and before the first word found. */
const SNIPPET_LENGTH = 200;
const CONTEXT_BEFORE = 60;
/** Words after this many characters are not found (`record_text`), and not looked for. */
const SEARCHED_LENGTH = 65_536;

const WORDS = "(select words from searched)";

/** The matches by rank, then the newest. A word in a title ranks higher, a long text lower. */
const MATCHES = `
  ${matchesSql(`t.id, t.kind, ts_rank(t.words, ${WORDS}, 1) as rank`, WORDS)}
     and t.id not in (select id from numbered)
   order by rank desc, t.id desc limit :limit`;

/** The statement of a search. The benchmark measures it. */
export const SEARCH = `
  with searched as materialized (select ${SEARCH_WORDS} as words),
       numbered as (select id from cards where workspace_id = :workspaceId and number = :cardNumber),
       -- The card with the number comes first.
       best as (select id, 'card' as kind, null as rank from numbered union all (${MATCHES})),
       terms as materialized (select unnest(tsvector_to_array(to_tsvector('simple', search_text(:query)))) as term)
  select b.kind, b.id, c.number, p.slug, coalesce(p.title, c.title) as title,
         substring(x.body from hit.start for ${SNIPPET_LENGTH}) as part, hit.start > 1 as "isCutBefore",
         char_length(x.body) >= hit.start + ${SNIPPET_LENGTH} as "isCutAfter",
         json_build_object('user', json_build_object('id', u.id, 'name', u.name, 'kind', ${userKindSql(":workspaceId", "u")}),
                           'login', t.login) as author,
         coalesce(t.edited_at, t.at, p.updated_at, c.updated_at) as at
    from best b
    left join timeline_items t on b.kind = 'comment' and t.id = b.id and t.deleted_at is null
    left join cards c on c.id = case when b.kind = 'card' then b.id else t.card_id end and c.deleted_at is null
    left join pages p on b.kind = 'page' and p.id = b.id
    join users u on u.id = coalesce(t.actor_id, p.updated_by, c.created_by)
   cross join lateral (select coalesce(t.body, p.body, c.description) as body) x
   cross join lateral (select lower(left(x.body, ${SEARCHED_LENGTH})) as body offset 0) searchable
   cross join lateral (
     select greatest(coalesce(min(nullif(strpos(searchable.body, term), 0)), 1) - ${CONTEXT_BEFORE}, 1) as start
       from terms) hit
   where c.id is not null or p.id is not null
   order by b.rank desc nulls first, b.id desc limit :limit`;

interface FoundText extends Omit<SearchResult, "snippet"> {
  readonly part: string;
  readonly isCutBefore: boolean;
  readonly isCutAfter: boolean;
}

/** Searches a board, the best match first. */
export async function search(
  db: Db,
  workspaceId: string,
  { query, kinds, limit }: { query: string; kinds: readonly SearchKind[]; limit: number },
): Promise<SearchResult[]> {
  const found = await rows<FoundText>(db, SEARCH, { ...searchBindings(workspaceId, query, kinds), limit });
  return found.map(({ kind, id, number, slug, title, author, at, ...text }) => {
    return { kind, id, number, slug, title, snippet: snippetOf(text), author, at };
  });
}

/** A line without control characters. An ellipsis replaces a word that is cut. */
function snippetOf({
  part,
  isCutBefore,
  isCutAfter,
}: Pick<FoundText, "part" | "isCutBefore" | "isCutAfter">) {
  const line = part.replaceAll(/[\s\p{Cc}]+/gu, " ");
  const begun = isCutBefore ? line.replace(/^\S*\s/u, "… ") : line;
  return (isCutAfter ? begun.replace(/\s\S*$/u, " …") : begun).trim();
}
