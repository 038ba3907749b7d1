import { z } from "zod";
import { type CheckOutcome, checksState, outcomeOfCheckRun, outcomeOfStatus } from "../../../flow/checks.ts";
import type { ChecksSummary } from "../../../flow/facts.ts";
import type { InspectedCheck } from "../../pull-requests.ts";
import { nodesOf, pageInfoShape } from "../calls/graphql-response.ts";
import { name } from "../text-shapes.ts";

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
  name,
  status: z.string(),
  conclusion: z.string().nullish(),
  checkSuite: z.looseObject({ app: z.looseObject({ databaseId: z.number().nullish() }).nullish() }).nullish(),
});
export const statusShape = z.looseObject({
  kind: z.literal("StatusContext"),
  context: name,
  state: z.string(),
  createdAt: z.string().nullish(),
});

const contextShape = z.union([checkRunShape, statusShape]);
export type CheckContext = z.infer<typeof contextShape>;

export const contextsShape = z.looseObject({ pageInfo: pageInfoShape, nodes: nodesOf(contextShape) });
export type Contexts = z.infer<typeof contextsShape>;

/** `reports` are the newest of each series. */
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

/** A check that a branch requires, from one App or (null) from any. */
export interface RequiredCheck {
  readonly name: string;
  readonly appId: number | null;
}

/** The required checks that have not passed; a check and a status of one name are both required. */
export const unmetChecks = (
  required: readonly RequiredCheck[],
  reports: readonly InspectedCheck[],
): string[] =>
  required
    .filter(({ name, appId }) => {
      const own = reports.filter((each) => each.name === name && (appId === null || each.appId === appId));
      return own.length === 0 || own.some(({ outcome }) => outcome === "pending" || outcome === "failing");
    })
    .map(({ name }) => name);

/** Keeps the newest report of each series (a name from one App), in place of its first one. */
export function newestOfEachSeries<Context extends CheckContext>(contexts: readonly Context[]): Context[] {
  const newest = new Map<string, Context>();
  for (const context of contexts) {
    const { source, appId, name } = reportOf(context);
    const series = `${source} ${appId ?? ""} ${name}`;
    const known = newest.get(series);
    if (known === undefined || orderOf(context) >= orderOf(known)) newest.set(series, context);
  }
  return [...newest.values()];
}

/** GraphQL has no numeric id for statuses. */
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

/** Increases from report to report of one series. */
function orderOf(context: CheckContext): number {
  return context.kind === "StatusContext"
    ? Date.parse(context.createdAt ?? "") || 0
    : (context.databaseId ?? 0);
}
