import { z } from "zod";
import type { ErrorReport } from "../actions/report-error.ts";
import { invalid } from "../errors.ts";
import { text, validate } from "../http/validate.ts";

const MAX_TITLE = 500;
const MAX_NAME = 200;
const MAX_URL = 2_000;

/** A page that a person may open: nothing that runs a script, reads a file or shows a password. */
const webPage = z
  .string()
  .max(MAX_URL, `at most ${MAX_URL.toLocaleString("en")} characters`)
  .refine(isWebPage, "an http or https address without a password is required here")
  .transform((address) => new URL(address).href);

function isWebPage(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return (protocol === "https:" || protocol === "http:") && username === "" && password === "";
}

/** What anybody can send. */
const plain = z.strictObject({
  fingerprint: text({ min: 1, max: MAX_NAME, isTrimmed: true }),
  title: text({ min: 1, max: MAX_TITLE, isTrimmed: true }),
  url: webPage,
});

const sentryTitle = z.string().transform((title) => tidied(title) || "An error without a title");
/** Sentry's ids are numbers written as text. */
const sentryId = z.union([z.string().min(1).max(MAX_NAME), z.int()]).transform((id) => tidied(String(id)));
const page = webPage.nullish().transform((url) => url ?? null);

/** What is around all that Sentry sends. */
const sentry = z.looseObject({ action: text({ min: 1, max: MAX_NAME }), data: z.looseObject({}) });

/** Sentry's issue alert (https://docs.sentry.io/organization/integrations/integration-platform/webhooks/issue-alerts/). */
const alert = z.looseObject({
  data: z.looseObject({
    event: z.looseObject({
      event_id: sentryId.nullish(),
      issue_id: sentryId,
      title: sentryTitle,
      web_url: page,
    }),
  }),
});

/** Sentry's news of an issue (https://docs.sentry.io/organization/integrations/integration-platform/webhooks/issues/). */
const issue = z.looseObject({
  data: z.looseObject({
    issue: z.looseObject({ id: sentryId, title: sentryTitle, web_url: page, permalink: page }),
  }),
});

/** What happened to an issue that somebody has to look at; all else was done by somebody who has. */
const NEWS_OF_ISSUES: ReadonlySet<string> = new Set(["created", "unresolved"]);
/** Of what an integration may subscribe to and gets sent to one address, the two that tell of errors by their groups. */
const RESOURCES: ReadonlySet<string> = new Set(["event_alert", "issue"]);

export interface ReportHeaders {
  /** Sentry's word for what the report is about. */
  readonly resource: string | undefined;
  /** The sender's name for this report. */
  readonly requestId: string | undefined;
}

/** The error a report tells of, or null where it tells of none. Throws `invalid` for what is neither Sentry's nor ours. */
export function readReport(body: unknown, { resource, requestId }: ReportHeaders): ErrorReport | null {
  if (resource !== undefined && !RESOURCES.has(resource)) return null;
  const request = nameOf("request", requestId);
  const isSentry = typeof body === "object" && body !== null && "data" in body;
  if (!isSentry) return { ...validate(plain, body, "body"), reportId: request };
  const { action, data } = validate(sentry, body, "body");
  if ("event" in data) {
    const { event_id: eventId, issue_id, title, web_url: url } = validate(alert, body, "body").data.event;
    return { fingerprint: issue_id, title, url, reportId: nameOf("event", eventId) ?? request };
  }
  if (!("issue" in data))
    throw invalid("body.data: an issue alert has an `event` here, news of an issue an `issue`");
  if (!NEWS_OF_ISSUES.has(action)) return null;
  const { id, title, web_url: url, permalink } = validate(issue, body, "body").data.issue;
  return { fingerprint: id, title, url: url ?? permalink, reportId: request };
}

const nameOf = (kind: string, name: string | null | undefined): string | null =>
  name === null || name === undefined || name === "" ? null : `${kind}:${tidied(name).slice(0, MAX_NAME)}`;

/** As much of a text as is shown, as PostgreSQL and JSON can carry it. */
function tidied(given: string): string {
  const clean = given
    .slice(0, 2 * MAX_TITLE)
    .replaceAll("\0", "")
    .replaceAll(/\p{Surrogate}/gu, "");
  return Array.from(clean.trim()).slice(0, MAX_TITLE).join("");
}
