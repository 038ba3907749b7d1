import { z } from "zod";
import { invalid } from "../../errors.ts";
import { median } from "../../flow/trunk/landings.ts";
import { trunkWindow } from "../../flow/trunk/trunk-window.ts";
import type { Db } from "../../store/db/connect.ts";
import { readClock } from "../../store/forge/installations.ts";
import { listRefusals, readTrunkReport } from "../../store/forge/trunk-report.ts";
import { keyedListRoute } from "../list-route.ts";
import { projectOf } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { blocked } from "./details.ts";
import { projectQuery } from "./lookups.ts";
import { tag } from "./releases/releases.ts";
import { actor, timestamp } from "./shapes.ts";

const cardTitle = z.object({ number: z.int(), title: z.string() });

const deliveredCard = cardTitle.extend({
  deliveredAt: timestamp,
  leadTimeDays: z.number().meta({ description: "The time from leaving the backlog to the done stage" }),
  repositories: z
    .array(
      z.object({
        fullName: z.string(),
        targetBranch: z.string(),
        prNumber: z.int(),
        sha: z.string().nullable().meta({ description: "The commit of the merge" }),
        mergedBy: actor.nullable().meta({ description: "`login` is null if Trunkline merged for the user" }),
      }),
    )
    .meta({ description: "The card's merged pull requests" }),
});

const promisedCard = cardTitle.extend({
  releaseId: z.uuid(),
  releaseName: z.string(),
  statusId: z.uuid().meta({ description: "The current stage" }),
});

const landing = z.object({
  fullName: z.string(),
  branchName: z.string(),
  sha: z.string().meta({ description: "The newest commit of the landing" }),
  title: z.string().meta({ description: "The first line of its message" }),
  author: z.string().nullable().meta({ description: "The GitHub login of its author, if there is one" }),
  prNumber: z.int().nullable().meta({ description: "The merged pull request; null for a push" }),
  card: cardTitle.nullable().meta({ description: "The card of the pull request" }),
  via: z.enum(["service", "outside"]).meta({ description: "`service` if Trunkline merged it" }),
  reverts: z.string().nullable().meta({ description: "The reverted commit, if it is a revert" }),
  at: timestamp.meta({ description: "The date of the commit" }),
});

const completedRelease = z.object({
  id: z.uuid(),
  name: z.string(),
  completedAt: timestamp,
  tags: z.array(tag),
  cards: z.array(cardTitle).meta({ description: "The cards of the release" }),
});

const report = z
  .object({
    from: z.iso.date().meta({ description: "The first day of the window" }),
    to: z.iso.date().meta({ description: "The last day of the window, inclusive" }),
    delivered: z
      .array(deliveredCard)
      .meta({ description: "Cards that entered the done stage in the window, newest first" }),
    promised: z.array(promisedCard).meta({
      description:
        "Cards of open releases, and of releases completed in the window, that are not in the done stage",
    }),
    numbers: z.object({
      landed: z.int().meta({ description: "The number of landings" }),
      owed: z.int().meta({ description: "The number of promised cards" }),
      refusals: z
        .int()
        .meta({ description: "The number of moves that GitHub or a rule of the flow refused" }),
      reverts: z.int().meta({
        description: "The number of landings that revert another one; the revert of a revert does not count",
      }),
      leadTimeDays: z
        .number()
        .nullable()
        .meta({ description: "The median of the delivered cards; null if there are none" }),
    }),
    releases: z
      .array(completedRelease)
      .meta({ description: "Releases completed in the window, newest first" }),
    landings: z.array(landing).meta({
      description:
        "What landed on the branches that the flow merges into, newest first. The order of a branch is kept, whatever the dates of its commits. A merged pull request is one landing with any merge method; each commit pushed without a pull request is one landing. Work that reached several of these branches is a landing on each",
    }),
  })
  .meta({ id: "TrunkReport" });

const refusal = z.object({
  id: z.uuid(),
  ...cardTitle.shape,
  refusal: blocked,
});

const day = (description: string) => z.string().optional().meta({ description, format: "date" });

const windowQuery = z.object({
  from: day("The first day; by default 30 days before `to`"),
  to: day("The last day, inclusive; by default today"),
  ...projectQuery.shape,
});

/** The window of a query. Throws `invalid`. */
async function windowOf(db: Db, query: z.output<typeof windowQuery>) {
  const window = trunkWindow(query, new Date(await readClock(db)));
  if (!("wrong" in window)) return window;
  const { wrong, message } = window;
  throw invalid(message, [{ path: `query.${wrong}`, message }]);
}

export const trunkRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/trunk",
    summary: "Get the trunk report",
    description:
      "What was delivered, promised and landed in a window of at most 92 days in UTC. Joins the merges of Trunkline with the landings that GitHub reported. The call does not read GitHub.",
    tag: "Trunk",
    query: windowQuery,
    responses: { 200: { description: "The trunk report", schema: report } },
    handle: async (deps, { board, query }) => {
      const { id: projectId } = await projectOf(deps.db, board.workspaceId, query.projectId);
      const { from, to, begin, end } = await windowOf(deps.db, query);
      const { delivered, promised, refusals, releases, landings } = await readTrunkReport(deps.db, {
        projectId,
        begin,
        end,
      });
      const numbers = {
        landed: landings.length,
        owed: promised.length,
        refusals,
        reverts: landings.filter(({ reverts }) => reverts !== null).length,
        leadTimeDays: median(delivered.map(({ leadTimeDays }) => leadTimeDays)),
      };
      return { from, to, delivered, promised, numbers, releases, landings };
    },
  }),
  keyedListRoute({
    path: "/v1/trunk/refusals",
    summary: "List the refused moves of the trunk report",
    description: "The moves that `numbers.refusals` of `GET /v1/trunk` counts.",
    tag: "Trunk",
    query: windowQuery,
    list: { description: "The refused moves, newest first", schema: z.array(refusal) },
    key: z.int().min(0),
    handle: async (deps, { board, query }, window) => {
      const { id: projectId } = await projectOf(deps.db, board.workspaceId, query.projectId);
      const { begin, end } = await windowOf(deps.db, query);
      return listRefusals(deps.db, { projectId, begin, end }, window);
    },
  }),
];
