import { z } from "zod";
import { changePage, createPage, deletePage } from "../../actions/pages/pages.ts";
import { findPage, listPages, readPage } from "../../store/cards/pages.ts";
import { listRoute } from "../list-route.ts";
import { readRoute, writeRoute, type Route } from "../route.ts";
import { id, text } from "../validate.ts";
import { byId } from "./lookups.ts";

const pageSummary = z
  .object({
    id: z.uuid(),
    title: z.string(),
    slug: z.string().meta({ description: "Made from the title; follows it when the title changes" }),
    parentId: z.uuid().nullable().meta({ description: "The page it stands below; null on the top level" }),
    position: z.int().meta({ description: "Among the pages below the same parent, 0 is the first" }),
  })
  .meta({ id: "PageSummary" });

const page = pageSummary
  .extend({
    body: z.string().meta({ description: "Markdown" }),
    createdBy: z.string().meta({ description: "The name of who wrote it first" }),
    updatedBy: z.string().meta({ description: "The name of who changed it last" }),
    backlinks: z
      .array(pageSummary.pick({ id: true, title: true, slug: true }))
      .meta({ description: "The pages that link to this one, by title" }),
    dangling: z
      .array(z.string())
      .meta({ description: "The slugs this page links to and no page has, in the order of the text" }),
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
        description:
          "The cards that carry it: their `docIds` name it or their description links to it; by number",
      }),
  })
  .meta({ id: "Page" });

const pageParams = z.object({
  docId: id().meta({ description: "The page's id; a slug is no address" }),
});

const pageInPath = { params: pageParams, find: byId("docId", findPage, "page") };
const pageToRead = byId("docId", readPage, "page");

const title = text({ min: 1, max: 200, isTrimmed: true });
const body = text({ max: 200_000 }).meta({
  description:
    "Markdown. `[[Title]]`, `[[slug]]` and `[[slug|text]]` link to pages, except in code; the first 500 different links of a page count.",
});
const parentId = id()
  .nullable()
  .optional()
  .meta({ description: "A page of this board; null for the top level" });

export const docRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/docs",
    summary: "The pages of the board, without their bodies",
    description: "In the order of a table of contents: every page is followed by those below it.",
    tag: "Pages",
    list: { description: "The pages", schema: z.array(pageSummary) },
    handle: (deps, { board }) => listPages(deps.db, board.workspaceId),
  }),
  readRoute({
    path: "/v1/docs/{docId}",
    summary: "Read a page",
    tag: "Pages",
    params: pageParams,
    responses: { 200: { description: "The page", schema: page } },
    handle: (deps, { board, params }) => pageToRead(deps.db, board, params),
  }),
  writeRoute({
    method: "post",
    path: "/v1/docs",
    summary: "Create a page",
    description: "It stands behind the other pages below its parent.",
    tag: "Pages",
    role: "member",
    body: z.strictObject({ title, body: body.optional(), parentId }),
    responses: { 201: { description: "The created page", schema: page } },
    handle: (deps, { write, body: input }) => createPage(deps, write, input),
  }),
  writeRoute({
    method: "patch",
    path: "/v1/docs/{docId}",
    summary: "Change a page",
    description:
      "Fields left out are untouched. A new title moves the slug; links by an earlier slug keep leading here until another page takes it. Under a new parent the page stands last unless `position` says otherwise.",
    tag: "Pages",
    role: "member",
    ...pageInPath,
    body: z.strictObject({
      title: title.optional(),
      body: body.optional(),
      parentId,
      position: z
        .int()
        .min(0, "0 is the first")
        .optional()
        .meta({ description: "Among the pages below the same parent; past the end is the end" }),
    }),
    responses: { 200: { description: "The whole page", schema: page } },
    handle: (_, { write, subject, body: input }) => changePage(write, subject, input),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/docs/{docId}",
    summary: "Delete a page",
    description: "The pages below it go to its parent and take its place. Links to it dangle.",
    tag: "Pages",
    role: "member",
    ...pageInPath,
    responses: { 204: { description: "Deleted", schema: null } },
    handle: (_, { write, subject }) => deletePage(write, subject),
  }),
];
