import { z } from "zod";
import { notFound } from "../../errors.ts";
import { listBacklog } from "../../store/cards/cards.ts";
import { keyedListRoute } from "../list-route.ts";
import { projectOf } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { projectQuery } from "./lookups.ts";
import { card, cardRepository, children } from "./cards.ts";
import { blocked, blockedReason } from "./details.ts";
import {
  cardLabel,
  claim,
  FEED_SEQ_HEADER,
  feedHeaders,
  priority,
  role,
  rule,
  timestamp,
  user,
} from "./shapes.ts";

const details = z
  .object({
    repositories: z.array(
      cardRepository.pick({
        fullName: true,
        branchName: true,
        prNumber: true,
        prState: true,
        checksState: true,
        reviewState: true,
        isBehind: true,
        hasConflicts: true,
        isInMergeQueue: true,
      }),
    ),
    blocked: blocked.nullable(),
    armed: z.object({ statusId: z.uuid(), waitingFor: z.array(blockedReason) }).nullable(),
    dueDate: z.iso.date().nullable(),
    parentNumber: z.int().nullable(),
    featureId: z.uuid().nullable(),
    children,
    commentCount: z.int(),
    updatedAt: timestamp,
  })
  .partial().shape;

const boardTask = z
  .object({
    id: z.uuid(),
    number: z.int(),
    title: z.string(),
    projectId: z.uuid(),
    statusId: z.uuid(),
    priority,
    assignee: user.nullable(),
    labels: z.array(cardLabel),
    claim: claim.optional(),
    ...details,
  })
  .meta({ id: "BoardTask", description: "The optional fields after `claim` come with `include=details`" });

const boardColumns = z
  .object({
    columns: z.array(
      z.object({
        statusId: z.uuid().meta({ description: "The id of the stage, which a move takes" }),
        name: z.string(),
        kind: z.enum(["stage", "done"]),
        minRole: role.meta({ description: "The role needed to move a card into this column" }),
        rule,
        tasks: z.array(boardTask),
      }),
    ),
  })
  .meta({ id: "Board" });

export const boardRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/board",
    summary: "Get the board",
    description:
      "The columns of a project in flow order with their cards, without the backlog. With `include=details`, each card also has its branches, its refused or armed move and other details; nothing calls GitHub.",
    tag: "Board",
    query: projectQuery.extend({ include: z.literal("details").optional() }),
    responses: { 200: { description: "The board", schema: boardColumns, headers: feedHeaders } },
    confirmsCredential: true,
    handle: async (
      deps,
      { cachedCredential, board: { workspaceId }, query: { projectId, include } },
      { setHeader },
    ) => {
      const read = async (id: string | null) => {
        const found = await deps.boards.read(deps.db, cachedCredential, {
          workspaceId,
          projectId: id,
          hasDetails: include === "details",
        });
        if (found) setHeader(FEED_SEQ_HEADER, String(found.feedSeq));
        return found?.response;
      };
      const ready = await read(projectId ?? null);
      if (ready) return ready;
      // Throws if no project or several projects match.
      const project = await projectOf(deps.db, workspaceId, projectId);
      return (
        (await read(project.id)) ??
        Promise.reject(notFound("There is no project with this id on this board."))
      );
    },
  }),
  keyedListRoute({
    path: "/v1/backlog",
    summary: "List drafts",
    description: "The cards in the backlog of a project. They have no Git activity.",
    tag: "Board",
    query: projectQuery,
    list: { description: "The drafts", schema: z.array(card) },
    key: z.string().regex(/^[A-Za-z0-9]+$/),
    handle: async (deps, call, window) => {
      const project = await projectOf(deps.db, call.board.workspaceId, call.query.projectId);
      return listBacklog(deps.db, project.id, window);
    },
  }),
];
