/** Check suites without runs: workflows that could not start, or that wait for a person's approval. */
import { z } from "zod";
import { outcomeOfEmptySuite } from "../../../flow/checks.ts";
import type { InspectedCheck } from "../../pull-requests.ts";
import { forbiddenShape, nodesOf } from "../calls/graphql-response.ts";
import { name } from "../text-shapes.ts";
import { workflowRunShape } from "./checks.ts";

export const SUITES = /* GraphQL */ `
  fragment Suites on Ref {
    checked: target {
      ... on Commit {
        checkSuites(first: 100) {
          nodes {
            databaseId
            status
            conclusion
            app {
              databaseId
              name
            }
            checkRuns(first: 1) {
              totalCount
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
      }
    }
  }
`;

const suiteShape = z.looseObject({
  databaseId: z.number().nullish(),
  status: z.string(),
  conclusion: z.string().nullish(),
  app: z.looseObject({ databaseId: z.number().nullish(), name: name.nullish() }).nullish(),
  checkRuns: z.looseObject({ totalCount: z.number() }).nullish(),
  workflowRun: workflowRunShape,
});
type Suite = z.infer<typeof suiteShape>;

/** Of the head commit. */
export const suitesShape = z
  .looseObject({
    checkSuites: z.union([forbiddenShape, z.looseObject({ nodes: nodesOf(suiteShape) })]).nullish(),
  })
  .nullish();
export type Suites = z.infer<typeof suitesShape>;

/** Null if GitHub hides them. */
export function emptySuites(suites: Suites): InspectedCheck[] | null {
  const found = suites?.checkSuites;
  if (!found) return [];
  if (!("nodes" in found)) return null;
  return found.nodes.filter((suite) => !isReplaced(suite, found.nodes)).flatMap(reportOfEmpty);
}

/** Whether the workflow has run again for the same event. */
const isReplaced = ({ workflowRun: run }: Suite, all: readonly Suite[]): boolean =>
  !!run &&
  all.some(
    ({ workflowRun: other }) =>
      other?.workflow.databaseId === run.workflow.databaseId &&
      other?.event === run.event &&
      other.runNumber > run.runNumber,
  );

function reportOfEmpty({
  databaseId,
  status,
  conclusion,
  app,
  checkRuns,
  workflowRun,
}: Suite): InspectedCheck[] {
  const outcome = checkRuns?.totalCount === 0 ? outcomeOfEmptySuite(status, conclusion ?? null) : null;
  if (outcome === null) return [];
  const suiteId = databaseId ?? null;
  return [
    {
      source: "check_suite",
      name: workflowRun?.workflow.name ?? app?.name ?? "a workflow",
      appId: app?.databaseId ?? null,
      suiteId,
      forgeId: suiteId,
      outcome,
    },
  ];
}
