/** The manifest requests exactly what the code uses. */
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import {
  NEEDED_EVENTS,
  NEEDED_PERMISSIONS,
  OPTIONAL_EVENTS,
  OPTIONAL_PERMISSIONS,
} from "../../src/forge/github/app.ts";
import { isTranslated } from "../../src/forge/github/deliveries/translate-delivery.ts";

const lines = readFileSync(new URL("../../app.yml", import.meta.url), "utf8").split("\n");

/** The lines of a block at the top of the manifest, without comments. */
function block(name: string): string[] {
  const start = lines.indexOf(`${name}:`) + 1;
  const end = lines.findIndex((line, at) => at >= start && /^\S/.test(line));
  const all = lines.slice(start, end === -1 ? undefined : end).map((line) => line.trim());
  return all.filter((line) => line !== "" && !line.startsWith("#"));
}

/** The required permission: https://docs.github.com/en/webhooks/webhook-events-and-payloads */
const PERMISSION_OF: Readonly<Record<string, string>> = {
  push: "contents",
  create: "contents",
  delete: "contents",
  release: "contents",
  pull_request: "pull_requests",
  pull_request_review: "pull_requests",
  pull_request_review_thread: "pull_requests",
  issue_comment: "issues",
  check_run: "checks",
  check_suite: "checks",
  status: "statuses",
  repository: "metadata",
};
/** Every App gets these without a subscription, or has a checkbox for them that no manifest sets. */
const ALWAYS_SENT = [
  "installation",
  "installation_repositories",
  ...OPTIONAL_EVENTS,
  "github_app_authorization",
];

const events = block("default_events").map((line) => line.replace("- ", ""));

test("the manifest requests the permissions that are needed", () => {
  const requested = Object.fromEntries(block("default_permissions").map((line) => line.split(": ")));
  expect(requested).toEqual({ ...NEEDED_PERMISSIONS, ...OPTIONAL_PERMISSIONS });
});

test("the manifest subscribes to the events that are needed", () => {
  expect(events).toEqual(NEEDED_EVENTS);
});

test("every subscribed event is handled, and its permission is requested", () => {
  expect(events.filter((event) => !isTranslated(event))).toEqual([]);
  expect(events.filter((event) => !((PERMISSION_OF[event] ?? "") in NEEDED_PERMISSIONS))).toEqual([]);
});

test("every handled event is subscribed", () => {
  const handled = [...Object.keys(PERMISSION_OF), ...ALWAYS_SENT].filter(isTranslated);
  expect(handled.filter((event) => !ALWAYS_SENT.includes(event)).toSorted()).toEqual(events.toSorted());
});
