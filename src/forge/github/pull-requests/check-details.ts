import { z } from "zod";
import type { CheckDetails, CheckNote } from "../../pull-requests.ts";
import {
  checkRunShape,
  CHECKS_FORBIDDABLE,
  newestOfEachSeries,
  REPORT,
  reportOf,
  statusShape,
} from "./checks.ts";
import { nodesOf, enumOf } from "../calls/graphql-response.ts";
import { name, text } from "../text-shapes.ts";
import { NO_ITEMS, pageOf, type PullRequestList } from "./pull-request-lists.ts";

const noteShape = z
  .looseObject({
    path: name,
    annotationLevel: enumOf(["notice", "warning", "failure"]).catch("notice"),
    message: text,
    location: z.looseObject({ start: z.looseObject({ line: z.int() }) }),
  })
  .transform(({ path, annotationLevel: level, message, location }): CheckNote => {
    return { path, line: location.start.line, level, message };
  });

const runShape = checkRunShape.extend({
  id: z.string(),
  url: z.string().nullish(),
  detailsUrl: z.string().nullish(),
  title: name.nullish(),
  summary: text.nullish(),
  annotations: z.looseObject({ nodes: nodesOf(noteShape) }).nullish(),
});
const detailedStatusShape = statusShape.extend({
  id: z.string(),
  description: text.nullish(),
  targetUrl: z.string().nullish(),
});
const reportShape = z.union([runShape, detailedStatusShape]);

type Report = z.infer<typeof reportShape>;

/** Requested for every run, because only the response shows which runs fail. */
const NOTES_PER_RUN = 20;

const REPORTS = /* GraphQL */ `
  fragment Reports on StatusCheckRollupContextConnection {
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...Report
      ... on CheckRun {
        id
        url
        detailsUrl
        title
        summary
        annotations(first: ${NOTES_PER_RUN}) {
          nodes {
            path
            annotationLevel
            message
            location {
              start {
                line
              }
            }
          }
        }
      }
      ... on StatusContext {
        id
        description
        targetUrl
      }
    }
  }
  ${REPORT}
`;

export const CHECKS: PullRequestList<Report, CheckDetails> = {
  name: "Checks",
  select: (page) => `statusCheckRollup { contexts(${page}) { ...Reports } }`,
  fragments: REPORTS,
  forbiddable: { asMissing: CHECKS_FORBIDDABLE.asMissing },
  shape: z
    .looseObject({
      id: z.string(),
      statusCheckRollup: z.looseObject({ contexts: pageOf(reportShape) }).nullish(),
    })
    .transform(({ id, statusCheckRollup }) => ({ id, page: statusCheckRollup?.contexts ?? NO_ITEMS })),
  toValues: toCheckDetails,
};

/** Uses the same reports as the combined state: the newest of each series. */
function toCheckDetails(reports: readonly Report[]): CheckDetails[] {
  return newestOfEachSeries(reports).map((report) => {
    const { name, outcome: state } = reportOf(report);
    const isStatus = report.kind === "StatusContext";
    const run = isStatus ? null : report.checkSuite?.workflowRun;
    return {
      id: report.id,
      name,
      ...(run && { workflow: { name: run.workflow.name, event: run.event } }),
      state,
      url: isStatus
        ? webAddress(report.targetUrl)
        : (webAddress(report.detailsUrl) ?? webAddress(report.url)),
      summary: (isStatus ? report.description : report.summary || report.title) || null,
      notes: isStatus || state !== "failing" ? [] : (report.annotations?.nodes.slice(0, NOTES_PER_RUN) ?? []),
    };
  });
}

/** Drops other schemes, because the reporter of a check chooses the address. */
function webAddress(address: string | null | undefined): string | null {
  return address && /^https?:\/\//i.test(address) ? address : null;
}
