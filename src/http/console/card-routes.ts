import { z } from "zod";
import { listReleasesOfCard } from "../../store/releases/release-cards.ts";
import { cardOf, cardParams } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { release } from "../v1/releases/releases.ts";

const releaseOfCard = release
  .pick({ id: true, name: true, status: true, frozenAt: true })
  .extend({ isMissing: z.boolean().meta({ description: "Whether it was completed without the card" }) })
  .meta({ id: "ReleaseOfCard" });

/** What the page of a card shows besides the responses of `/v1`. */
export const cardRoutes: readonly Route[] = [
  readRoute({
    path: "/console/v1/cards/{number}/releases",
    summary: "List the releases that a card is in",
    tag: "Console",
    params: cardParams,
    responses: { 200: { description: "The releases, newest first", schema: z.array(releaseOfCard) } },
    handle: async ({ db }, { board, params }) => listReleasesOfCard(db, await cardOf(db, board, params)),
  }),
];
