/** What a search finds. */
export const SEARCH_KINDS = ["card", "page", "comment"] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** SQL for the words of a search, with the bindings `:query` and `:isPrefix`. May have no words. */
export const SEARCH_WORDS = `
  (select case when :isPrefix and numnode(w) > 0 then cast(cast(w as text) || ':*' as tsquery) else w end
     from websearch_to_tsquery('simple', search_text(:query)) w)`;

/**
 * SQL that selects the matches `t` of the words `words`, with the bindings `:workspaceId` and
 * `:scope`. The scope is in the query, so that the index finds the matches on one board; the column
 * decides, whatever a text contains.
 */
export const matchesSql = (columns: string, words: string): string => `
  select ${columns} from search_texts t
   where t.workspace_id = :workspaceId and numnode(${words}) > 0
     and t.words @@ (${words} && cast(:scope as tsquery))`;

/** A last word of three or more letters or digits, which also finds longer words. */
const PREFIX = /(?:^|\s)[\p{L}\p{M}\p{N}]{3,}\s*$/u;
const CARD_NUMBER = /^\s*#?0*(\d{1,9})\s*$/;

/** The bindings of a search of one board for texts of some kinds. */
export const searchBindings = (
  workspaceId: string,
  query: string,
  kinds: readonly SearchKind[],
): Record<string, unknown> => ({
  workspaceId,
  query,
  isPrefix: PREFIX.test(query),
  scope: `'=${workspaceId}' & (${kinds.map((kind) => `'=${kind}'`).join(" | ")})`,
  // Card numbers start at 1.
  cardNumber: kinds.includes("card") ? Number(CARD_NUMBER.exec(query)?.[1] ?? 0) : 0,
});
