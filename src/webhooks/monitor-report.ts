import { z } from "zod";
import type { ErrorReport } from "../actions/report-error.ts";
import { invalid } from "../errors.ts";
import { firstCharacters, isBlank } from "../flow/text.ts";
import { text, validate } from "../http/validate.ts";

const MAX_TITLE = 500;
const MAX_NAME = 200;
const MAX_URL = 2_000;

/** A URL that is safe to open: no script, no file, no password. */
const webPage = z
  .string()
  .max(MAX_URL, `at most ${MAX_URL.toLocaleString("en")} characters`)
  .refine(isWebPage, "must be an http or https URL without a password")
  .transform((address) => new URL(address).href);

function isWebPage(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return (protocol === "https:" || protocol === "http:") && username === "" && password === "";
}

/** A report of any sender. */
const plain = z.strictObject({
  fingerprint: text({ min: 1, max: MAX_NAME, isTrimmed: true }),
  title: text({ min: 1, max: MAX_TITLE, isTrimmed: true }),
  url: webPage,
});

const sentryTitle = z.string().transform((title) => {
  const clean = sanitize(title);
  return isBlank(clean) ? "An error without a title" : clean;
});
/** Sentry sends ids as numbers in strings. */
const sentryId = z.union([z.string().min(1).max(MAX_NAME), z.int()]).transform((id) => sanitize(String(id)));
const page = webPage.nullish().transform((url) => url ?? null);

/** The envelope of Sentry's webhooks. */
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

/** Sentry's issue webhook (https://docs.sentry.io/organization/integrations/integration-platform/webhooks/issues/). */
const issue = z.looseObject({
  data: z.looseObject({
    issue: z.looseObject({ id: sentryId, title: sentryTitle, web_url: page, permalink: page }),
  }),
});

/** Actions on an issue that need attention; the others are done by a person. */
const REPORTED_ACTIONS: ReadonlySet<string> = new Set(["created", "unresolved"]);
/** The webhook resources with grouped errors. An integration sends all its resources to one URL. */
const RESOURCES: ReadonlySet<string> = new Set(["event_alert", "issue"]);

export interface ReportHeaders {
  /** The Sentry resource. */
  readonly resource: string | undefined;
  /** The sender's id of this report. */
  readonly requestId: string | undefined;
}

/** The error in a report, or null if it contains none. Throws `invalid` for other formats. */
export function readReport(body: unknown, { resource, requestId }: ReportHeaders): ErrorReport | null {
  if (resource !== undefined && !RESOURCES.has(resource)) return null;
  const request = idOf("request", requestId);
  const isSentry = typeof body === "object" && body !== null && "data" in body;
  if (!isSentry) return { ...validate(plain, body, "body"), reportId: request };
  const { action, data } = validate(sentry, body, "body");
  if ("event" in data) {
    const { event_id: eventId, issue_id, title, web_url: url } = validate(alert, body, "body").data.event;
    return { fingerprint: issue_id, title, url, reportId: idOf("event", eventId) ?? request };
  }
  if (!("issue" in data)) throw invalid("body.data must contain `event` (an issue alert) or `issue`");
  if (!REPORTED_ACTIONS.has(action)) return null;
  const { id, title, web_url: url, permalink } = validate(issue, body, "body").data.issue;
  return { fingerprint: id, title, url: url ?? permalink, reportId: request };
}

const idOf = (kind: string, id: string | null | undefined): string | null =>
  id === null || id === undefined || id === "" ? null : `${kind}:${firstCharacters(sanitize(id), MAX_NAME)}`;

/** Shortens a text, and removes what PostgreSQL and JSON cannot store. */
function sanitize(given: string): string {
  return firstCharacters(given.replaceAll(/[\0\p{Surrogate}]/gu, "").trim(), MAX_TITLE);
}
