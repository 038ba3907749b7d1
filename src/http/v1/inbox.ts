import { z } from "zod";
import { adoptBranch } from "../../actions/moves/adopt-branch.ts";
import { noInboxItem, dismissItem } from "../../actions/inbox/dismiss-inbox-item.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { findInboxItem, listInbox, type InboxItem } from "../../store/inbox/list-inbox.ts";
import { cardParams, projectOf } from "../resolve.ts";
import { keyedListRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id } from "../validate.ts";
import { projectQuery, timePlace } from "./lookups.ts";
import { inboxItem } from "./inbox-item.ts";
import { problem } from "./shapes.ts";

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
    key: timePlace,
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
    handle: (_, { write, subject }) => dismissItem(write, subject),
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
