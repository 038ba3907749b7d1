/** What the App asks an account to grant, as its manifest (app.yml) says, too. */
export const NEEDED_PERMISSIONS: Readonly<Record<string, "read" | "write">> = {
  contents: "write",
  pull_requests: "write",
  issues: "read",
  checks: "read",
  statuses: "read",
  merge_queues: "read",
  workflows: "write",
  metadata: "read",
};

/** The webhooks it asks for, as its manifest says, too. */
export const NEEDED_EVENTS: readonly string[] = [
  "push",
  "pull_request",
  "pull_request_review",
  "issue_comment",
  "check_run",
  "status",
  "repository",
];

const RANKS = ["read", "write", "admin"];

/** What is needed and not granted: an account is asked again for what a new version needs, and may not have answered. */
export function missingPermissions(granted: Readonly<Record<string, string>>): string[] {
  return Object.entries(NEEDED_PERMISSIONS)
    .filter(([name, level]) => RANKS.indexOf(granted[name] ?? "") < RANKS.indexOf(level))
    .map(([name, level]) => `${name}: ${level}`);
}
