import { z } from "zod";
import { invalid, notFound, requireFound } from "../../errors.ts";
import {
  CARD_SORTS,
  findFilterSubjects,
  listCards,
  type CardFilter,
  type CardPlace,
} from "../../store/cards/card-list.ts";
import type { Db } from "../../store/db/connect.ts";
import { cardOf, cardParams } from "../resolve.ts";
import type { ReadCall, Route } from "../route.ts";
import { keyedListRoute } from "../list-route.ts";
import { id, text } from "../validate.ts";
import { card } from "./cards.ts";
import { searchText } from "./search.ts";

const NOBODY = "none";
const CALLER = "@me";
const MINE = "mine";
const DEFAULT_SORT = "number";

const filters = z.object({
  assignee: text({ min: 1, max: 100 })
    .optional()
    .meta({
      description: `Cards of this assignee: the id or GitHub login of a user, \`${CALLER}\` for the credential itself, or \`${NOBODY}\` for cards without an assignee`,
    }),
  statusId: id().optional().meta({ description: "Cards in this stage, from GET /v1/board" }),
  label: id().optional().meta({ description: "Cards with the label with this id" }),
  feature: id().optional().meta({ description: "Cards of the feature with this id" }),
  projectId: id().optional().meta({ description: "Cards of this project; by default of all projects" }),
  blocked: z
    .enum(["0", "1"], "must be 1 for blocked cards, or 0 for the others")
    .optional()
    .meta({ description: "1 for blocked cards, 0 for the others" }),
  claimed: z
    .enum(["true", "false", MINE], `must be true, false or ${MINE}`)
    .optional()
    .meta({
      description: `Cards that are claimed, that are not, or that the credential has claimed (\`${MINE}\`)`,
    }),
  q: searchText.optional().meta({
    description: "Cards whose title or description matches, as in GET /v1/search; or the number of a card",
  }),
  sort: z
    .enum(CARD_SORTS)
    .optional()
    .meta({
      description: `The order: by number, by last change (\`updated\`), with \`-\` the highest or newest first, or as on the \`board\`: by project, stage and position. By default \`${DEFAULT_SORT}\``,
    }),
});
type Filters = z.output<typeof filters>;

const cardNumber = z.int().min(1).max(2_147_483_647);
const place: z.ZodType<CardPlace> = z.union([
  z.tuple([z.enum(["number", "-number"]), cardNumber]).readonly(),
  z
    .tuple([
      z.enum(["updated", "-updated"]),
      // PostgreSQL has no year 0.
      z.iso.datetime({ precision: 6 }).refine((at) => !at.startsWith("0000")),
      cardNumber,
    ])
    .readonly(),
  z
    .tuple([
      z.literal("board"),
      z.uuid(),
      z.int().min(0).max(2_147_483_647),
      z.string().regex(/^[A-Za-z0-9]+$/),
    ])
    .readonly(),
]);

/** The query parameters with an id, and what has it. */
const SUBJECTS = [
  ["projectId", "project"],
  ["statusId", "stage"],
  ["label", "label"],
  ["feature", "feature"],
] as const;

/** The filters of a call. Throws `not_found` for what the board does not have. */
async function filterOf(
  db: Db,
  { board, credential, query }: ReadCall<unknown, Filters>,
): Promise<CardFilter> {
  const { projectId, statusId, label: labelId, feature: featureId, assignee, blocked, claimed, q } = query;
  const user = assignee === NOBODY || assignee === CALLER ? undefined : assignee;
  const subjects = { projectId, statusId, labelId, featureId, user };
  const isAny = Object.values(subjects).some((value) => value !== undefined);
  const found = isAny ? await findFilterSubjects(db, board.workspaceId, subjects) : null;
  for (const [field, what] of SUBJECTS) {
    if (query[field] !== undefined) requireFound(found?.[what] ?? null, what);
  }
  if (user !== undefined && found?.userIds.length === 0) {
    throw notFound("No user with this id or login is on this board. GET /v1/members lists the members.");
  }
  return {
    projectId,
    statusId,
    labelId,
    featureId,
    assigneeIds: assigneeIdsOf(assignee, credential.userId, found?.userIds),
    isBlocked: blocked === undefined ? undefined : blocked === "1",
    isClaimed: claimed === undefined || claimed === MINE ? undefined : claimed === "true",
    holderId: claimed === MINE ? credential.id : undefined,
    query: q,
  };
}

function assigneeIdsOf(
  assignee: string | undefined,
  callerId: string,
  found: readonly string[] | undefined,
): readonly string[] | undefined {
  if (assignee === undefined) return undefined;
  if (assignee === NOBODY) return [];
  return assignee === CALLER ? [callerId] : found;
}

const listedCards = z.array(card.omit({ position: true }).meta({ id: "ListedCard" }));

export const cardListRoutes: readonly Route[] = [
  keyedListRoute({
    path: "/v1/cards",
    summary: "List cards",
    description:
      "The cards of the board, drafts included, that pass all filters. A card that changes its place while you read the pages may be missing or appear twice; with `sort=number` none is, and with `sort=updated` none is missing.",
    tag: "Cards",
    query: filters,
    list: { description: "The cards, without their positions", schema: listedCards },
    key: place,
    handle: async (deps, call, window) => {
      const { board, query } = call;
      const sort = query.sort ?? DEFAULT_SORT;
      if (window.after !== null && window.after[0] !== sort) {
        const message = "is a cursor of another order; omit it, or use the sort of the response it is from";
        throw invalid(`query.cursor: ${message}`, [{ path: "query.cursor", message }]);
      }
      return listCards(deps.db, board.workspaceId, await filterOf(deps.db, call), sort, window);
    },
  }),
  keyedListRoute({
    path: "/v1/cards/{number}/children",
    summary: "List sub-cards",
    description: "The cards whose parent is this card, by number.",
    tag: "Cards",
    params: cardParams,
    list: { description: "The cards, without their positions", schema: listedCards },
    key: place,
    handle: async ({ db }, { board, params }, window) => {
      const { id: parentId } = await cardOf(db, board, params);
      return listCards(db, board.workspaceId, { parentId }, DEFAULT_SORT, window);
    },
  }),
];
