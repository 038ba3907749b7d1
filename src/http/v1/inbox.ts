import { z } from "zod";
import { adoptBranch } from "../../actions/moves/adopt-branch.ts";
import { noInboxItem, putAwayInboxItem } from "../../actions/boards/put-away-inbox-item.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import {
  DERIVED_KINDS,
  STORED_KINDS,
  findInboxItem,
  listInbox,
  type InboxItem,
  type InboxPlace,
} from "../../store/inbox/list-inbox.ts";
import { cardParams, projectOf } from "../resolve.ts";
import { keyedListRoute } from "../list-route.ts";
import { writeRoute, type Route } from "../route.ts";
import { id } from "../validate.ts";
import { projectQuery } from "./lookups.ts";
import { problem, timestamp } from "./shapes.ts";

const inboxItem = z
  .object({
    id: z.uuid().meta({
      description:
        "Stays the same while the item exists; if the same thing happens again, it is a new item with another id",
    }),
    kind: z
      .enum([...STORED_KINDS, ...DERIVED_KINDS])
      .meta({ description: "Skip a kind you do not know: new ones are added", example: "promotion_blocked" }),
    detail: z.string().meta({
      description: "The reason, as GitHub's message if there is one",
      example: "Merge conflict: card/7-say-hello cannot be merged into main.",
    }),
    projectId: z.uuid(),
    card: z.object({ number: z.int().meta({ example: 7 }), title: z.string() }).nullable(),
    repository: z.string().nullable().meta({ example: "acme/web" }),
    dismissible: z
      .boolean()
      .meta({ description: "Whether it can be dismissed. The others disappear when their cause is gone" }),
    at: timestamp,
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "More of the item, by its kind. `promotion_blocked`: the card's `blocked`. `branch_suggestion`: `{ branchName, login }`. `branch_deleted`: `{ branchName, sha, login }`. `pr_merged_outside`: `{ prNumber, targetBranch, sha, login, statusId }`, the last being that merge's stage. `pr_closed_outside`: `{ prNumber, targetBranch, login }`. `checks_broken`: `{ prNumber, branchName, sha, failing }`, the last being names. `waiting_stale`: `{ since, staleAfterDays, statusId }`. `error_reported`: `{ monitorId, monitorName, fingerprint, title, url }`. `connection_broken`: `{ broken }`, which is uninstalled, suspended, refused or not_granted. `backmerge_open`: `{ targetBranch, prNumber, branchName, sha, releaseId }`, the last being null of a hotfix. `proposal_waiting`: `{ prNumber, title, headBranch, targetBranch, isDraft, login }`. `agent_gave_up`: `{ prNumber, reason, login, name }`; said through the API it has no `prNumber` and no `login`. `agent_stopped_reacting`: `{ prNumber, login, reason, since, agentSilenceHours }`, the reason being `changes_requested`, `checks_failing` or `question`",
    }),
  })
  .meta({ id: "InboxItem" });

const inboxPlace: z.ZodType<InboxPlace> = z.tuple([z.iso.datetime(), z.guid()]).readonly();

const itemInPath = {
  params: z.object({ itemId: id().meta({ description: "From GET /v1/inbox" }) }),
  find: async (db: Db, board: BoardRole, { itemId }: { itemId: string }): Promise<InboxItem> => {
    const found = await findInboxItem(db, board.workspaceId, itemId);
    if (!found) throw noInboxItem();
    return found;
  },
};

export const inboxRoutes: readonly Route[] = [
  keyedListRoute({
    path: "/v1/inbox",
    summary: "List inbox items",
    description:
      "The items of a project that need a decision by a person. Most items exist as long as their cause. A `dismissible` item exists until it is acted on or dismissed.",
    tag: "Inbox",
    query: projectQuery,
    list: { description: "Newest first", schema: z.array(inboxItem) },
    key: inboxPlace,
    handle: async (deps, call, window) => {
      const project = await projectOf(deps.db, call.board.workspaceId, call.query.projectId);
      return listInbox(deps.db, project.id, window);
    },
  }),
  writeRoute({
    method: "delete",
    path: "/v1/inbox/{itemId}",
    summary: "Dismiss an inbox item",
    tag: "Inbox",
    role: "member",
    ...itemInPath,
    responses: {
      204: { description: "Dismissed", schema: null },
      409: { description: "The item is not dismissible", schema: problem },
    },
    handle: (_, { write, subject }) => putAwayInboxItem(write, subject),
  }),
  writeRoute({
    method: "post",
    path: "/v1/inbox/{itemId}/adopt",
    summary: "Adopt a suggested branch",
    description:
      "Reads the branch from GitHub and makes it the card's branch, together with its open pull request. Then applies the rule of the card's stage, for example opens the draft pull request.",
    tag: "Inbox",
    role: "member",
    ...itemInPath,
    query: z.object({
      card: cardParams.shape.number.optional().meta({
        description: "The number of the card, if it is not the one in the branch's name",
        example: 7,
      }),
    }),
    responses: {
      204: { description: "Adopted", schema: null },
      409: {
        description:
          "The item suggests no branch, the branch does not exist or belongs to another card, the card already has a branch there, or the card is being moved (with Retry-After)",
        schema: problem,
      },
      503: { description: "GitHub could not be reached; make the same call again", schema: problem },
    },
    handle: (deps, { write, subject, query }) => adoptBranch(deps, write, subject, query.card),
  }),
];
