import { z } from "zod";
import { CLAIM, CLAIM_NEXT, claimArguments, claimWork } from "./claim-tool.ts";
import {
  ANYONE,
  CALLER,
  getBoard,
  getCard,
  LISTS,
  listWork,
  readInbox,
  readPage,
  searchBoard,
  type ListName,
} from "./reads.ts";
import { updateCard, WITHDRAW } from "./update-card.ts";
import { releaseTools } from "./release-tools.ts";
import { listArguments, tool, type Tool } from "./tool.ts";

const boardTools: readonly Tool[] = [
  tool({
    name: "get_board",
    title: "Get the board",
    description: "The columns of a project with their cards, and on request the ids that cards can refer to.",
    route: "GET /v1/board",
    reads: Object.values(LISTS),
    extra: { include: z.array(z.enum(Object.keys(LISTS) as ListName[])).optional() },
    run: getBoard,
  }),
  tool({
    name: "my_work",
    title: "List cards",
    description: "Cards by assignee, by default yours, by claim, and by other filters.",
    route: "GET /v1/cards",
    extra: {
      ...listArguments,
      assignee: z
        .string()
        .optional()
        .meta({
          description: `\`${CALLER}\` (default; with \`claimed\`: \`${ANYONE}\`), \`none\`, \`${ANYONE}\`, or a member's id or login`,
        }),
      blocked: z.boolean().optional(),
    },
    run: listWork,
  }),
  tool({
    name: "get_card",
    title: "Get a card",
    description:
      "A card with its branches, its pull requests, why its last move was refused (`blocked`), and its comments and events.",
    route: "GET /v1/cards/{number}",
    reads: [
      "GET /v1/cards/{number}/timeline",
      "GET /v1/cards/{number}/checks",
      "GET /v1/cards/{number}/reviews",
    ],
    extra: {
      live: z.boolean().optional().meta({ description: "Also read check runs and reviews from GitHub" }),
    },
    run: getCard,
  }),
  tool({
    name: "plan_move",
    title: "Preview a move",
    description: "What a move would do on GitHub and what would refuse it. Changes nothing.",
    route: "GET /v1/cards/{number}/move-plan",
    describe: ({ body }) =>
      (body as { wouldMove: boolean }).wouldMove
        ? "The move would be made: `steps` lists its changes."
        : "The move would be refused: `reasons` says why, or `requiredRole` is higher than `heldRole`.",
  }),
  tool({
    name: "move_card",
    title: "Move a card",
    description:
      "Moves a card to a stage. The stage's rule creates its branch, opens its pull request or merges it into a shared branch. If GitHub refuses, the card stays and `blocked` says why.",
    route: "POST /v1/cards/{number}/move",
    isDestructive: true,
    describe: ({ status, body }) =>
      status === 202
        ? (body as { armed?: object }).armed
          ? "The move waits for what `waitingFor` lists. The card moves by itself then: read the card."
          : "GitHub has queued a merge. The card moves when GitHub merges it: read the card."
        : "The card has moved. `promoted` lists the merges of this call.",
  }),
  tool({
    name: "create_card",
    title: "Create a card",
    description:
      "Creates a card, by default a draft in the backlog. With pullRequest or branch, the card owns what exists on GitHub.",
    route: "POST /v1/cards",
    describe: () => "The card is created.",
  }),
  tool({
    name: "update_card",
    title: "Update a card",
    description:
      "Changes fields of a card. Omitted fields are unchanged; null clears a field. `blocked: null` alone withdraws your refused move.",
    route: "PATCH /v1/cards/{number}",
    otherWrite: WITHDRAW,
    extra: { blocked: z.null().optional() },
    isDestructive: true,
    run: updateCard,
  }),
  tool({
    name: "comment",
    title: "Comment on a card",
    description:
      "Comments on a card and on its open pull requests, which may be public. `/give-up <reason>` says that you cannot finish.",
    route: "POST /v1/cards/{number}/comments",
    describe: () => "The comment is written. `mirroredTo` counts the pull requests that show it.",
  }),
  tool({
    name: "claim_card",
    title: "Claim a card",
    description:
      "Claims a card before you work on it, so that no other agent does. Without number, claims the next free card. With claimId, renews your claim.",
    route: CLAIM,
    otherWrite: CLAIM_NEXT,
    without: ["claim"],
    extra: claimArguments,
    run: claimWork,
  }),
  tool({
    name: "release_claim",
    title: "Release a card",
    description: "Ends your claim of a card when you have finished or stop.",
    route: "DELETE /v1/cards/{number}/claim",
    describe: () => "The claim is released.",
  }),
  tool({
    name: "inbox",
    title: "List the inbox",
    description: "What needs a decision by a person, newest first.",
    route: "GET /v1/inbox",
    extra: listArguments,
    run: readInbox,
  }),
  tool({
    name: "read_page",
    title: "Read a page",
    description: "A page of the board's documents. Without docId, the list of pages.",
    route: "GET /v1/docs",
    reads: ["GET /v1/docs/{docId}"],
    extra: { ...listArguments, docId: z.guid().optional() },
    run: readPage,
  }),
  tool({
    name: "search",
    title: "Search",
    description: "Searches cards, pages and comments of the board.",
    route: "GET /v1/search",
    extra: {
      kinds: z.array(z.enum(["cards", "pages", "comments"])).optional(),
      limit: z.int().min(1).max(50).optional().meta({ description: "By default 20" }),
    },
    run: searchBoard,
  }),
  tool({
    name: "get_operation",
    title: "Get the progress of a promotion",
    description: "The result of each card of a promotion so far. Poll it until nothing is pending.",
    route: "GET /v1/operations/{operationId}",
    describe: () => "The results so far.",
  }),
];

/** All tools, in the order of `tools/list`. */
export const tools: readonly Tool[] = [...boardTools, ...releaseTools];

/**
 * The writes of `/v1` without a tool: they change settings of the board, pages or comments, delete
 * something, cancel an armed move, or are decisions that the inbox expects from a person.
 */
export const NOT_FOR_AGENTS: readonly string[] = [
  "DELETE /v1/cards/{number}",
  "DELETE /v1/cards/{number}/armed",
  "PUT /v1/cards/{number}/repositories/{repositoryId}",
  "DELETE /v1/cards/{number}/repositories/{repositoryId}",
  "PATCH /v1/cards/{number}/comments/{commentId}",
  "POST /v1/labels",
  "PATCH /v1/labels/{labelId}",
  "DELETE /v1/labels/{labelId}",
  "POST /v1/features",
  "PATCH /v1/features/{featureId}",
  "DELETE /v1/features/{featureId}",
  "POST /v1/projects",
  "PATCH /v1/projects/{projectId}",
  "DELETE /v1/projects/{projectId}",
  "PUT /v1/projects/{projectId}/flow",
  "PUT /v1/projects/{projectId}/repositories",
  "POST /v1/docs",
  "PATCH /v1/docs/{docId}",
  "DELETE /v1/docs/{docId}",
  "DELETE /v1/releases/{id}",
  "DELETE /v1/releases/{id}/freeze",
  "DELETE /v1/inbox/{itemId}",
  "POST /v1/inbox/{itemId}/adopt",
  "POST /v1/webhooks",
  "PATCH /v1/webhooks/{id}",
  "DELETE /v1/webhooks/{id}",
  "POST /v1/webhooks/{id}/ping",
  "POST /v1/webhooks/{id}/rotate",
  "POST /v1/webhooks/{id}/replay",
];
