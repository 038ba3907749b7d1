import { z } from "zod";
import { notFound } from "../../errors.ts";
import { pageSlugOf } from "../../flow/names.ts";
import { wikiTargetsOf } from "../../actions/pages/wiki-links.ts";
import { findPageIdBySlug } from "../../store/cards/page-links.ts";
import { readPage } from "../../store/cards/pages.ts";
import { readRoute, type Route } from "../route.ts";
import { page } from "../v1/docs.ts";
import { text } from "../validate.ts";

const shownPage = page.extend({
  links: z
    .array(z.object({ target: z.string(), slug: z.string() }))
    .meta({ description: "Its links as they are written, without `|text`, in the order of the text" }),
});

/** Pages by what is in their address. */
export const pageRoutes: readonly Route[] = [
  readRoute({
    path: "/console/v1/pages/{slug}",
    summary: "Get a page by its slug, an earlier slug, or its title",
    tag: "Console",
    params: z.object({ slug: text({ min: 1, max: 400 }) }),
    responses: { 200: { description: "The page", schema: shownPage } },
    handle: async ({ db }, { board: { workspaceId }, params }) => {
      const slug = pageSlugOf(params.slug);
      const pageId = await findPageIdBySlug(db, workspaceId, slug);
      const found = pageId === null ? null : await readPage(db, workspaceId, pageId);
      if (!found) throw notFound(`There is no page ${slug} on this board.`);
      const links = [...(await wikiTargetsOf(found.body))].map(([target, to]) => ({ target, slug: to }));
      return { ...found, links };
    },
  }),
];
