import { z } from "zod";
import { search } from "../../store/cards/search.ts";
import { countWords, MAX_WORDS, SEARCH_KINDS } from "../../store/cards/search-query.ts";
import { readRoute, type Route } from "../route.ts";
import { digits, text } from "../validate.ts";
import { actor, timestamp } from "./shapes.ts";

const MAX_LIMIT = 50;
const DEFAULT_LIMIT = 20;
const limitRange = `must be a number from 1 to ${MAX_LIMIT}`;

const KINDS = { cards: "card", pages: "page", comments: "comment" } as const;
const kindName = z.enum(["cards", "pages", "comments"], {
  error: (issue) =>
    `has no kind ${JSON.stringify(issue.input)}; the kinds are ${Object.keys(KINDS).join(", ")}`,
});

/** What a search looks for. */
export const searchText = text({ min: 1, max: 500 }).refine(
  (words) => countWords(words) <= MAX_WORDS,
  `must have at most ${MAX_WORDS} words`,
);

const query = z.object({
  q: searchText.meta({
    description:
      'All of these words, at most 16, in any case. `"…"` finds words in this order, `or` either word, `-` texts without the word. A last word of three or more letters also finds longer words. `#14` or `14` finds the card with this number',
  }),
  kinds: z
    .string()
    .transform((list) => list.split(","))
    .pipe(z.array(kindName))
    .optional()
    .meta({ description: "Only `cards`, `pages` or `comments`, separated by commas", type: "string" }),
  limit: digits(MAX_LIMIT, limitRange)
    .refine((limit) => limit >= 1, limitRange)
    .optional()
    .meta({ description: `The number of results to return, by default ${DEFAULT_LIMIT}` }),
});

const searchResult = z
  .object({
    kind: z.enum(SEARCH_KINDS),
    id: z.uuid().meta({ description: "The id of the card, page or comment" }),
    number: z.int().nullable().meta({ description: "The number of the card, or of the comment's card" }),
    slug: z.string().nullable().meta({ description: "The slug of the page" }),
    title: z.string().meta({ description: "The title of the card or page, or of the comment's card" }),
    snippet: z.string().meta({
      description: "Plain text of one line, without highlighting: at most 200 characters around a word found",
    }),
    author: actor.meta({
      description: "The author of the comment, the last editor of the page, or the creator of the card",
    }),
    at: timestamp.meta({ description: "The last change" }),
  })
  .meta({ id: "SearchResult" });

export const searchRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/search",
    summary: "Search",
    description:
      "Searches the titles and texts of the board's cards and pages, and the comments. A change is found as soon as its call returns. Words are not reduced to stems, and only the first 65,536 characters of a page are searched.",
    tag: "Search",
    query,
    responses: {
      200: {
        description: "The best match first; a match in a title counts more",
        schema: z.object({ results: z.array(searchResult) }).meta({ id: "SearchResults" }),
      },
    },
    handle: async (deps, { board, query: { q, kinds, limit } }) => ({
      results: await search(deps.db, board.workspaceId, {
        query: q,
        kinds: kinds?.map((kind) => KINDS[kind]) ?? SEARCH_KINDS,
        limit: limit ?? DEFAULT_LIMIT,
      }),
    }),
  }),
];
