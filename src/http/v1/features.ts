import { z } from "zod";
import { changeFeature, createFeature, deleteFeature } from "../../actions/boards/features.ts";
import { findFeature, listFeatures } from "../../store/cards/features.ts";
import { listRoute } from "../list-route.ts";
import { writeRoute, type Route } from "../route.ts";
import { id, text } from "../validate.ts";
import { byId } from "./lookups.ts";
import { color } from "./shapes.ts";

const feature = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    color,
    taskCount: z.int().meta({ description: "All cards in the feature" }),
    doneCount: z.int().meta({ description: "Its cards that reached the end of their flow" }),
    archived: z.boolean(),
    position: z.int().meta({ description: "0 is the first; archived features stand behind the others" }),
  })
  .meta({ id: "Feature" });

const featureInPath = {
  params: z.object({ featureId: id() }),
  find: byId("featureId", findFeature, "feature"),
};

const name = text({ min: 1, max: 60, isTrimmed: true });
const description = text({ max: 20_000 }).meta({ description: "Markdown" });

export const featureRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/features",
    summary: "The features of the board, in their order",
    tag: "Features",
    query: z.object({
      archived: z.enum(["0", "1"], "1 includes archived features, 0 does not").optional(),
    }),
    list: { description: "The features", schema: z.array(feature) },
    handle: (deps, { board, query }) => listFeatures(deps.db, board.workspaceId, query.archived === "1"),
  }),
  writeRoute({
    method: "post",
    path: "/v1/features",
    summary: "Create a feature",
    tag: "Features",
    role: "member",
    body: z.strictObject({ name, description: description.optional(), color: color.optional() }),
    responses: { 201: { description: "The created feature", schema: feature } },
    handle: (deps, { write, body }) => createFeature(deps, write, body),
  }),
  writeRoute({
    method: "patch",
    path: "/v1/features/{featureId}",
    summary: "Change, archive or move a feature",
    description: "Fields left out are untouched.",
    tag: "Features",
    role: "member",
    ...featureInPath,
    body: z.strictObject({
      name: name.optional(),
      description: description.optional(),
      color: color.optional(),
      archived: z.boolean().optional(),
      position: z.int().min(0, "0 is the first").optional().meta({ description: "Past the end is the end" }),
    }),
    responses: { 200: { description: "The whole feature", schema: feature } },
    handle: (_, { write, subject, body }) => changeFeature(write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/features/{featureId}",
    summary: "Delete a feature",
    description: "Its cards stay, without the feature.",
    tag: "Features",
    role: "maintainer",
    ...featureInPath,
    responses: { 204: { description: "Deleted", schema: null } },
    handle: (_, { write, subject }) => deleteFeature(write, subject),
  }),
];
