import { z } from "zod";
import { type CheckOutcome, checksState, outcomeOfCheckRun, outcomeOfStatus } from "../../flow/checks.ts";
import type { ChecksSummary } from "../../flow/facts.ts";
import type { InspectedCheck } from "../forge.ts";

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

/** Where a page of a connection ends. */
export const pageInfoShape = z.looseObject({ hasNextPage: z.boolean(), endCursor: z.string().nullish() });

export const contextsShape = z.looseObject({
  pageInfo: pageInfoShape,
  nodes: z.array(z.union([checkRunShape, statusShape]).nullable()).nullable(),
});

export type Contexts = z.infer<typeof contextsShape>;
export type CheckContext = NonNullable<NonNullable<Contexts["nodes"]>[number]>;

/** One state for a commit's checks and statuses. */
export function summarizeChecks(contexts: readonly CheckContext[]): ChecksSummary {
  const reports = newestOfEachSeries(contexts).map((context) => ({
    name: nameOf(context),
    outcome: outcomeOf(context),
  }));
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
    const series = seriesOf(context);
    const known = newest.get(series);
    if (known === undefined || ageOf(context) >= ageOf(known)) newest.set(series, context);
  }
  return [...newest.values()];
}

export function nameOf(context: CheckContext): string {
  return context.kind === "StatusContext" ? context.context : context.name;
}

export function outcomeOf(context: CheckContext): CheckOutcome {
  return context.kind === "StatusContext"
    ? outcomeOfStatus(context.state)
    : outcomeOfCheckRun(context.status, context.conclusion ?? null);
}

/** A report as it is kept: one of a status has no number in GraphQL. */
export function reportOf(context: CheckContext): InspectedCheck {
  const common = { name: nameOf(context), outcome: outcomeOf(context) };
  if (context.kind === "StatusContext") return { source: "status", appId: null, forgeId: null, ...common };
  const appId = context.checkSuite?.app?.databaseId ?? null;
  return { source: "check_run", appId, forgeId: context.databaseId ?? null, ...common };
}

function seriesOf(context: CheckContext): string {
  return context.kind === "StatusContext"
    ? `status ${context.context}`
    : `check_run ${context.checkSuite?.app?.databaseId ?? ""} ${context.name}`;
}

/** Grows from report to report of one series. */
function ageOf(context: CheckContext): number {
  return context.kind === "StatusContext"
    ? Date.parse(context.createdAt ?? "") || 0
    : (context.databaseId ?? 0);
}
