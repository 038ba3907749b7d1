import { z } from "zod";
import { type CheckOutcome, checksState, outcomeOfCheckRun, outcomeOfStatus } from "../../../flow/checks.ts";
import type { ChecksSummary } from "../../../flow/facts.ts";
import type { InspectedCheck } from "../../pull-requests.ts";
import { nodesOf, pageInfoShape } from "../calls/graphql-answer.ts";

/** What every reader of checks asks about one. */
export const REPORT = /* GraphQL */ `
  fragment Report on StatusCheckRollupContext {
    kind: __typename
    ... on CheckRun {
      databaseId
      name
      status
      conclusion
      checkSuite {
        app {
          databaseId
        }
      }
    }
    ... on StatusContext {
      context
      state
      createdAt
    }
  }
`;

export const checkRunShape = z.looseObject({
  kind: z.literal("CheckRun"),
  databaseId: z.number().nullish(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullish(),
  checkSuite: z.looseObject({ app: z.looseObject({ databaseId: z.number().nullish() }).nullish() }).nullish(),
});
export const statusShape = z.looseObject({
  kind: z.literal("StatusContext"),
  context: z.string(),
  state: z.string(),
  createdAt: z.string().nullish(),
});

const contextShape = z.union([checkRunShape, statusShape]);
export type CheckContext = z.infer<typeof contextShape>;

export const contextsShape = z.looseObject({ pageInfo: pageInfoShape, nodes: nodesOf(contextShape) });
export type Contexts = z.infer<typeof contextsShape>;

/** One state for a commit's checks and statuses, of each series the newest. */
export function summarizeChecks(reports: readonly InspectedCheck[]): ChecksSummary {
  const named = (outcome: CheckOutcome): string[] => [
    ...new Set(reports.filter((report) => report.outcome === outcome).map((report) => report.name)),
  ];
  return {
    state: checksState(reports.map((report) => report.outcome)),
    failing: named("failing"),
    pending: named("pending"),
  };
}

/** Of each series, a name from one App, only the newest report counts. It stands where the series was first met. */
export function newestOfEachSeries<Context extends CheckContext>(contexts: readonly Context[]): Context[] {
  const newest = new Map<string, Context>();
  for (const context of contexts) {
    const { source, appId, name } = reportOf(context);
    const series = `${source} ${appId ?? ""} ${name}`;
    const known = newest.get(series);
    if (known === undefined || ageOf(context) >= ageOf(known)) newest.set(series, context);
  }
  return [...newest.values()];
}

/** A report as it is kept: one of a status has no number in GraphQL. */
export function reportOf(context: CheckContext): InspectedCheck {
  if (context.kind === "StatusContext") {
    const { context: name, state } = context;
    return { source: "status", name, appId: null, forgeId: null, outcome: outcomeOfStatus(state) };
  }
  return {
    source: "check_run",
    name: context.name,
    appId: context.checkSuite?.app?.databaseId ?? null,
    forgeId: context.databaseId ?? null,
    outcome: outcomeOfCheckRun(context.status, context.conclusion ?? null),
  };
}

/** Grows from report to report of one series. */
function ageOf(context: CheckContext): number {
  return context.kind === "StatusContext"
    ? Date.parse(context.createdAt ?? "") || 0
    : (context.databaseId ?? 0);
}
