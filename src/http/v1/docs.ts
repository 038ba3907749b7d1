import { z } from "zod";
import { changePage, createPage, deletePage } from "../../actions/pages/pages.ts";
import { findPage, listPages, readPage } from "../../store/cards/pages.ts";
import { listRoute } from "../list-route.ts";
import { readRoute, type Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id, text } from "../validate.ts";
import { byId } from "./lookups.ts";

const pageSummary = z
  .object({
    id: z.uuid(),
    title: z.string(),
    slug: z.string().meta({ description: "Derived from the title, also when the title changes" }),
    parentId: z.uuid().nullable().meta({ description: "The parent page; null on the top level" }),
    position: z.int().meta({ description: "Position among the pages of the same parent, 0 is the first" }),
  })
  .meta({ id: "PageSummary" });

export const page = pageSummary
  .extend({
    body: z.string().meta({ description: "Markdown" }),
    createdBy: z.string().meta({ description: "The name of the user who created it" }),
    updatedBy: z.string().meta({ description: "The name of the user who last changed it" }),
    backlinks: z
      .array(pageSummary.pick({ id: true, title: true, slug: true }))
      .meta({ description: "The pages that link to this one, by title" }),
    dangling: z
      .array(z.string())
      .meta({ description: "The slugs in its links that no page has, in the order of the text" }),
    tasks: z
      .array(
        z.object({
          id: z.uuid(),
          number: z.int(),
          title: z.string(),
          projectId: z.uuid(),
          statusId: z.uuid(),
        }),
      )
      .meta({
        description: "The cards it is attached to, by `docIds` or by a link in the description; by number",
      }),
  })
  .meta({ id: "Page" });

const pageParams = z.object({
  docId: id().meta({ description: "The id of the page; a slug is not accepted" }),
});

const pageInPath = { params: pageParams, find: byId("docId", findPage, "page") };
const pageToRead = byId("docId", readPage, "page");

const title = text({ min: 1, max: 200, isTrimmed: true });
const body = text({ max: 200_000 }).meta({
  description:
    "Markdown. `[[Title]]`, `[[slug]]` and `[[slug|text]]` link to pages, except in code. A page has at most 500 different links; further ones are ignored",
});
const parentId = id()
  .nullable()
  .optional()
  .meta({ description: "A page of this board; null for the top level" });

export const docRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/docs",
    summary: "List pages",
    description:
      "The pages of the board without their bodies, in the order of a table of contents: the children of a page follow it.",
    tag: "Pages",
    list: { description: "The pages", schema: z.array(pageSummary) },
    handle: (deps, { board }) => listPages(deps.db, board.workspaceId),
  }),
  readRoute({
    path: "/v1/docs/{docId}",
    summary: "Get a page",
    tag: "Pages",
    params: pageParams,
    responses: { 200: { description: "The page", schema: page } },
    handle: (deps, { board, params }) => pageToRead(deps.db, board, params),
  }),
  writeRoute({
    method: "post",
    path: "/v1/docs",
    summary: "Create a page",
    description: "The page becomes the last child of its parent.",
    tag: "Pages",
    role: "member",
    body: z.strictObject({ title, body: body.optional(), parentId }),
    responses: { 201: { description: "The created page", schema: page } },
    handle: (deps, { write, body: input }) => createPage(deps, write, input),
  }),
  writeRoute({
    method: "patch",
    path: "/v1/docs/{docId}",
    summary: "Update a page",
    description:
      "Omitted fields are unchanged. A new title changes the slug; links with an earlier slug still lead to the page until another page has that slug. Under a new parent the page is the last child unless `position` is set.",
    tag: "Pages",
    role: "member",
    ...pageInPath,
    body: z.strictObject({
      title: title.optional(),
      body: body.optional(),
      parentId,
      position: z.int().min(0, "must be at least 0, the first position").optional().meta({
        description: "Position among the pages of the same parent; a larger number than its pages is the end",
      }),
    }),
    responses: { 200: { description: "The updated page", schema: page } },
    handle: (_, { write, subject, body: input }) => changePage(write, subject, input),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/docs/{docId}",
    summary: "Delete a page",
    description: "Its children move to its parent, in its place. Links to it become dangling links.",
    tag: "Pages",
    role: "member",
    ...pageInPath,
    responses: { 204: { description: "Deleted", schema: null } },
    handle: (_, { write, subject }) => deletePage(write, subject),
  }),
];
