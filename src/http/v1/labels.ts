import { z } from "zod";
import { changeLabel, createLabel, deleteLabel } from "../../actions/boards/labels.ts";
import { requireFound } from "../../errors.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { findLabel, listLabels, type Label } from "../../store/cards/labels.ts";
import { listRoute } from "../list-route.ts";
import { writeRoute, type Route } from "../route.ts";
import { id, text } from "../validate.ts";
import { cardLabel, color } from "./shapes.ts";

const label = cardLabel
  .extend({ taskCount: z.int().meta({ description: "How many cards carry it" }) })
  .meta({ id: "Label" });

const labelParams = z.object({ labelId: id() });

const labelOf = async (db: Db, board: BoardRole, { labelId }: { labelId: string }): Promise<Label> =>
  requireFound(await findLabel(db, board.workspaceId, labelId), "label");

const name = text({ min: 1, max: 50, isTrimmed: true }).meta({
  description: "Unique on its board, ignoring case",
});

const listLabelsRoute = listRoute({
  path: "/v1/labels",
  summary: "The labels of the board, by name",
  description: "Labels belong to the board and are shared across its projects.",
  tag: "Labels",
  list: { description: "The labels", schema: z.array(label) },
  handle: (deps, { board }) => listLabels(deps.db, board.workspaceId),
});

const createRoute = writeRoute({
  method: "post",
  path: "/v1/labels",
  summary: "Create a label",
  tag: "Labels",
  role: "member",
  body: z.strictObject({ name, color: color.optional() }),
  responses: { 201: { description: "The created label", schema: label } },
  handle: (deps, { write, body }) => createLabel(deps, write, body),
});

const patchRoute = writeRoute({
  method: "patch",
  path: "/v1/labels/{labelId}",
  summary: "Change a label",
  description: "Fields left out are untouched.",
  tag: "Labels",
  role: "member",
  params: labelParams,
  body: z.strictObject({ name: name.optional(), color: color.optional() }),
  responses: { 200: { description: "The whole label", schema: label } },
  find: labelOf,
  handle: (_, { write, subject, body }) => changeLabel(write, subject, body),
});

const deleteRoute = writeRoute({
  method: "delete",
  path: "/v1/labels/{labelId}",
  summary: "Delete a label",
  description: "Removes it from every card at once.",
  tag: "Labels",
  role: "maintainer",
  params: labelParams,
  responses: { 204: { description: "Deleted", schema: null } },
  find: labelOf,
  handle: (_, { write, subject }) => deleteLabel(write, subject),
});

export const labelRoutes: readonly Route[] = [listLabelsRoute, createRoute, patchRoute, deleteRoute];
