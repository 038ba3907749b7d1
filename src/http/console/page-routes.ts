import { z } from "zod";
import { notFound } from "../../errors.ts";
import { wikiTargetsOf } from "../../actions/pages/wiki-links.ts";
import { wikiLinkTo } from "../../flow/wiki-links.ts";
import { resolveLinks } from "../../store/cards/page-links.ts";
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
      const link = wikiLinkTo(params.slug);
      const [to] = await resolveLinks(db, workspaceId, [link]);
      const found = to?.pageId ? await readPage(db, workspaceId, to.pageId) : null;
      if (!found) throw notFound(`There is no page ${link.pageSlug ?? link.slug} on this board.`);
      const targets = await wikiTargetsOf(found.body);
      const slugs = await resolveLinks(db, workspaceId, [...targets.values()]);
      const links = [...targets.keys()].map((target, at) => ({ target, slug: slugs[at]?.slug ?? "" }));
      return { ...found, links };
    },
  }),
];
