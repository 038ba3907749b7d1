import { z } from "zod";
import { invalid } from "../../errors.ts";
import { median } from "../../flow/landings.ts";
import { trunkWindow } from "../../flow/trunk-window.ts";
import { readTrunkReport } from "../../store/forge/trunk-report.ts";
import { projectOf } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { projectQuery } from "./lookups.ts";
import { tag } from "./releases.ts";
import { actor, timestamp } from "./shapes.ts";

const number = z.int().meta({ example: 7 });
const title = z.string().meta({ example: "Say hello" });
const sha = z.string().meta({ example: "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d" });
const fullName = z.string().meta({ example: "acme/web" });
const branchName = z.string().meta({ example: "main" });

const deliveredCard = z.object({
  number,
  title,
  deliveredAt: timestamp,
  leadTimeDays: z
    .number()
    .meta({ description: "From leaving the backlog to the end of the flow", example: 2.5 }),
  repositories: z
    .array(
      z.object({
        fullName,
        targetBranch: branchName,
        prNumber: z.int(),
        sha: sha.nullable().meta({ description: "The commit the merge left there" }),
        mergedBy: actor
          .nullable()
          .meta({ description: "`login` is null where Trunkline merged for somebody" }),
      }),
    )
    .meta({ description: "The card's merged pull requests" }),
});

const promisedCard = z.object({
  number,
  title,
  releaseId: z.uuid(),
  releaseName: z.string(),
  statusId: z.uuid().meta({ description: "The stage it stands in now" }),
});

const landing = z.object({
  fullName,
  branchName,
  sha: sha.meta({ description: "Of several commits the newest" }),
  title: title.meta({ description: "That commit's first line" }),
  author: z.string().nullable().meta({ description: "The forge login of its author, where there is one" }),
  prNumber: z.int().nullable().meta({ description: "The pull request that brought it; null for a push" }),
  card: z.object({ number, title }).nullable().meta({ description: "The card whose pull request it was" }),
  via: z.enum(["service", "outside"]).meta({ description: "`service` where Trunkline merged it" }),
  reverts: sha.nullable().meta({ description: "The commit it undoes, where it is a revert" }),
  at: timestamp.meta({ description: "When that commit was made" }),
});

const completedRelease = z.object({
  id: z.uuid(),
  name: z.string(),
  completedAt: timestamp,
  tags: z.array(tag),
  cards: z.array(z.object({ number, title })).meta({ description: "What it carried" }),
});

const report = z
  .object({
    from: z.iso.date().meta({ description: "The first day of the window" }),
    to: z.iso.date().meta({ description: "The last day in it" }),
    delivered: z
      .array(deliveredCard)
      .meta({ description: "Cards that reached the end of the flow in the window, newest first" }),
    promised: z.array(promisedCard).meta({
      description:
        "Cards of open releases, and of those completed in the window, that have not reached the end of the flow by now",
    }),
    numbers: z.object({
      landed: z.int().meta({ description: "Landings" }),
      owed: z.int().meta({ description: "Cards promised" }),
      refusals: z.int().meta({ description: "Promotions the forge refused" }),
      reverts: z
        .int()
        .meta({ description: "Landings that undo another; one that undoes a revert does not count" }),
      leadTimeDays: z
        .number()
        .nullable()
        .meta({ description: "The median of the delivered cards', null where there is none", example: 2.5 }),
    }),
    releases: z
      .array(completedRelease)
      .meta({ description: "Releases completed in the window, newest first" }),
    landings: z.array(landing).meta({
      description:
        "What the forge says landed on the branches the flow merges into, newest first: a pull request, however it was merged, is one landing, and so is each commit pushed without one",
    }),
  })
  .meta({ id: "TrunkReport" });

const day = (description: string) =>
  z.string().optional().meta({ description, format: "date", example: "2026-01-31" });

export const trunkRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/trunk",
    summary: "What was delivered, promised and landed in some days",
    description:
      "Joins what Trunkline merged with what the forge says landed. Days are UTC; the window is at most 92 days, `to` included. Nothing is asked of the forge for it: landings are recorded as they are pushed.",
    tag: "Trunk",
    query: z.object({
      from: day("The first day; thirty days before today when left out"),
      to: day("The last day; today when left out"),
      ...projectQuery.shape,
    }),
    responses: { 200: { description: "The trunk report", schema: report } },
    handle: async (deps, { board, query }) => {
      const { id: projectId } = await projectOf(deps.db, board.workspaceId, query.projectId);
      const window = trunkWindow(query, new Date());
      if ("wrong" in window) {
        const { wrong, message } = window;
        throw invalid(message, [{ path: `query.${wrong}`, message }]);
      }
      const { from, to, begin, end } = window;
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
];
