import { z } from "zod";
import { changeLabel, createLabel, deleteLabel } from "../../actions/boards/labels.ts";
import { findLabel, listLabels } from "../../store/cards/labels.ts";
import { listRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id, text } from "../validate.ts";
import { byId } from "./lookups.ts";
import { cardLabel, color } from "./shapes.ts";

const label = cardLabel
  .extend({ taskCount: z.int().meta({ description: "The number of cards with the label" }) })
  .meta({ id: "Label" });

const labelInPath = {
  params: z.object({ labelId: id() }),
  find: byId("labelId", findLabel, "label"),
};

const name = text({ min: 1, max: 50, isTrimmed: true }).meta({
  description: "Unique on its board, ignoring case",
});

export const labelRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/labels",
    summary: "List labels",
    description: "Labels belong to the board. All its projects share them.",
    tag: "Labels",
    list: { description: "The labels, by name", schema: z.array(label) },
    handle: (deps, { board }) => listLabels(deps.db, board.workspaceId),
  }),
  writeRoute({
    method: "post",
    path: "/v1/labels",
    summary: "Create a label",
    tag: "Labels",
    role: "member",
    body: z.strictObject({ name, color: color.optional() }),
    responses: { 201: { description: "The created label", schema: label } },
    handle: (deps, { write, body }) => createLabel(deps, write, body),
  }),
  writeRoute({
    method: "patch",
    path: "/v1/labels/{labelId}",
    summary: "Update a label",
    description: "Omitted fields are unchanged.",
    tag: "Labels",
    role: "member",
    ...labelInPath,
    body: z.strictObject({ name: name.optional(), color: color.optional() }),
    responses: { 200: { description: "The updated label", schema: label } },
    handle: (_, { write, subject, body }) => changeLabel(write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/labels/{labelId}",
    summary: "Delete a label",
    description: "Removes the label from all cards.",
    tag: "Labels",
    role: "maintainer",
    ...labelInPath,
    responses: { 204: { description: "Deleted", schema: null } },
    handle: (_, { write, subject }) => deleteLabel(write, subject),
  }),
];
