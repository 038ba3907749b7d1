/** What a search finds. */
export const SEARCH_KINDS = ["card", "page", "comment"] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/**
 * SQL for a search as a `tsquery`, with the bindings `:query` and `:isPrefix`. It may be empty. An
 * excluded phrase ends with a bracket, and finds no longer words.
 */
export const SEARCH_WORDS = `
  (select case when :isPrefix and cast(w as text) like '%''' then cast(cast(w as text) || ':*' as tsquery) else w end
     from websearch_to_tsquery('simple', search_text(:query)) w)`;

/**
 * SQL that selects the texts `t` that match the `tsquery` `words`, with the bindings `:workspaceId` and
 * `:scope`. The scope restricts the index scan to one board. Because a text can contain the same terms,
 * the column is compared too.
 */
export const matchesSql = (columns: string, words: string): string => `
  select ${columns} from search_texts t
   where t.workspace_id = :workspaceId and numnode(${words}) > 0
     and t.words @@ (${words} && cast(:scope as tsquery))`;

/** More words than anybody searches for. Each is looked for in each text found. */
export const MAX_WORDS = 16;

/** Letters and digits, as PostgreSQL's parser separates them. */
const WORDS = /[\p{L}\p{M}\p{N}]+/gu;

export const countWords = (query: string): number => query.normalize("NFKC").match(WORDS)?.length ?? 0;

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
