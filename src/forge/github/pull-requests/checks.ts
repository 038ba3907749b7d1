import { z } from "zod";
import { type CheckOutcome, checksState, outcomeOfCheckRun, outcomeOfStatus } from "../../../flow/checks.ts";
import type { ChecksSummary } from "../../../flow/facts.ts";
import type { InspectedCheck } from "../../pull-requests.ts";
import { forbiddenShape, nodesOf, pageInfoShape } from "../calls/graphql-response.ts";
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
        databaseId
        app {
          databaseId
        }
        workflowRun {
          event
          runNumber
          workflow {
            databaseId
            name
          }
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

/** GitHub shows it with the permission `actions: read` only. */
export const workflowRunShape = z
  .looseObject({
    event: z.string(),
    runNumber: z.number(),
    workflow: z.looseObject({ databaseId: z.number().nullish(), name }),
  })
  .nullish()
  .catch(null);

export const checkRunShape = z.looseObject({
  kind: z.literal("CheckRun"),
  databaseId: z.number().nullish(),
  name,
  status: z.string(),
  conclusion: z.string().nullish(),
  checkSuite: z
    .looseObject({
      databaseId: z.number().nullish(),
      app: z.looseObject({ databaseId: z.number().nullish() }).nullish(),
      workflowRun: workflowRunShape,
    })
    .nullish(),
});
export const statusShape = z.looseObject({
  kind: z.literal("StatusContext"),
  context: name,
  state: z.string(),
  createdAt: z.string().nullish(),
});

/** Without `actions: read`, GitHub forbids `workflowRun`; without `checks: read`, whole reports. */
export const CHECKS_FORBIDDABLE = {
  asMissing: ["workflowRun"],
  asForbidden: ["contexts.nodes", "checkSuites"],
} as const;

const contextShape = z.union([checkRunShape, statusShape]);
export type CheckContext = z.infer<typeof contextShape>;

export const contextsShape = z.looseObject({
  pageInfo: pageInfoShape,
  nodes: nodesOf(z.union([forbiddenShape, contextShape])),
});
export type Contexts = z.infer<typeof contextsShape>;

/** `reports` are the newest of each series. */
export function summarizeChecks(reports: readonly InspectedCheck[]): ChecksSummary {
  const named = (outcome: CheckOutcome): string[] => [
    ...new Set(reports.filter((report) => report.outcome === outcome).map((report) => report.name)),
  ];
  const hasSkipped = reports.some(({ outcome }) => outcome === "skipped");
  const unstarted = reports.flatMap(({ source, name }) => (source === "check_suite" ? name : []));
  return {
    state: checksState(reports.map((report) => report.outcome)),
    failing: named("failing"),
    pending: named("pending"),
    ...(hasSkipped && { hasSkipped }),
    ...(unstarted.length > 0 && { unstarted }),
  };
}

/** A check that a branch requires, from one App or (null) from any. */
export interface RequiredCheck {
  readonly name: string;
  readonly appId: number | null;
}

/**
 * The required checks that have not passed; a check and a status of one name are both required. An App
 * may report by status. GitHub does not show whose a status is, so one of the name counts if the App
 * has no check run; GitHub refuses the merge if it is of somebody else.
 */
export const unmetChecks = (
  required: readonly RequiredCheck[],
  reports: readonly InspectedCheck[],
): string[] =>
  required
    .filter(({ name, appId }) => {
      const named = reports.filter((each) => each.source !== "check_suite" && each.name === name);
      const ofApp = named.filter((each) => each.appId === appId);
      const statuses = named.filter(({ source }) => source === "status");
      const own = appId === null ? named : ofApp.length > 0 ? ofApp : statuses;
      return own.length === 0 || own.some(({ outcome }) => outcome === "pending" || outcome === "failing");
    })
    .map(({ name }) => name);

/**
 * Keeps the newest report of each series, in place of its first one. All jobs of GitHub Actions belong
 * to one App, so a series is a name of one workflow and event, or of one check suite if GitHub does
 * not show the workflow. A red series is never hidden by another one.
 */
export function newestOfEachSeries<Context extends CheckContext>(contexts: readonly Context[]): Context[] {
  const newest = new Map<string, Context>();
  for (const context of contexts) {
    const series = seriesOf(context);
    const known = newest.get(series);
    if (known === undefined || isNewer(context, known)) newest.set(series, context);
  }
  return [...newest.values()];
}

function seriesOf(context: CheckContext): string {
  if (context.kind === "StatusContext") return JSON.stringify(["status", context.context]);
  const { app, databaseId: suiteId, workflowRun } = context.checkSuite ?? {};
  const origin = workflowRun
    ? [workflowRun.workflow.databaseId ?? workflowRun.workflow.name, workflowRun.event]
    : [suiteId ?? null];
  return JSON.stringify(["check_run", app?.databaseId ?? null, context.name, ...origin]);
}

/** GraphQL has no numeric id for statuses. */
export function reportOf(context: CheckContext): InspectedCheck {
  if (context.kind === "StatusContext") {
    const { context: name, state } = context;
    const none = { appId: null, forgeId: null, suiteId: null };
    return { source: "status", name, ...none, outcome: outcomeOfStatus(state) };
  }
  return {
    source: "check_run",
    name: context.name,
    appId: context.checkSuite?.app?.databaseId ?? null,
    suiteId: context.checkSuite?.databaseId ?? null,
    forgeId: context.databaseId ?? null,
    outcome: outcomeOfCheckRun(context.status, context.conclusion ?? null),
  };
}

/** Of two reports of one series. A cancelled run may have jobs with higher ids than a newer one. */
function isNewer(one: CheckContext, other: CheckContext): boolean {
  const [run, otherRun] = [runNumberOf(one), runNumberOf(other)];
  return run === otherRun ? orderOf(one) >= orderOf(other) : run > otherRun;
}

const runNumberOf = (context: CheckContext): number =>
  (context.kind === "CheckRun" && context.checkSuite?.workflowRun?.runNumber) || 0;

function orderOf(context: CheckContext): number {
  return context.kind === "StatusContext"
    ? Date.parse(context.createdAt ?? "") || 0
    : (context.databaseId ?? 0);
}
