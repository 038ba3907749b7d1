import { z } from "zod";
import { changeFeature, createFeature, deleteFeature } from "../../actions/boards/features.ts";
import { findFeature, listFeatures } from "../../store/cards/features.ts";
import { keyedListRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id, text } from "../validate.ts";
import { byId } from "./lookups.ts";
import { color } from "./shapes.ts";

const feature = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    color,
    taskCount: z.int().meta({ description: "The number of its cards" }),
    doneCount: z.int().meta({ description: "The number of its cards in a done stage" }),
    archived: z.boolean(),
    position: z.int().meta({ description: "0 is the first; archived features come last" }),
  })
  .meta({ id: "Feature" });

const featureInPath = {
  params: z.object({ featureId: id() }),
  find: byId("featureId", findFeature, "feature"),
};

const name = text({ min: 1, max: 60, isTrimmed: true });
const description = text({ max: 20_000 }).meta({ description: "Markdown" });

export const featureRoutes: readonly Route[] = [
  keyedListRoute({
    path: "/v1/features",
    summary: "List features",
    tag: "Features",
    query: z.object({
      archived: z.enum(["0", "1"], "must be 1 to include archived features, or 0").optional(),
    }),
    list: { description: "The features of the board, by position", schema: z.array(feature) },
    key: z.tuple([z.uuid(), z.int().min(0)]).readonly(),
    handle: (deps, { board, query }, window) =>
      listFeatures(deps.db, board.workspaceId, query.archived === "1", window),
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
    summary: "Update a feature",
    description: "Renames, archives or reorders a feature. Omitted fields are unchanged.",
    tag: "Features",
    role: "member",
    ...featureInPath,
    body: z.strictObject({
      name: name.optional(),
      description: description.optional(),
      color: color.optional(),
      archived: z.boolean().optional(),
      position: z
        .int()
        .min(0, "must be at least 0, the first position")
        .optional()
        .meta({ description: "A larger number than the features is the end" }),
    }),
    responses: { 200: { description: "The updated feature", schema: feature } },
    handle: (_, { write, subject, body }) => changeFeature(write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/features/{featureId}",
    summary: "Delete a feature",
    description: "Its cards remain, without a feature.",
    tag: "Features",
    role: "maintainer",
    ...featureInPath,
    responses: { 204: { description: "Deleted", schema: null } },
    handle: (_, { write, subject }) => deleteFeature(write, subject),
  }),
];
