// The webhooks Trunkline listens to or its sandbox forge sends, cut out of GitHub's description of them.
import { reached, shareRepeated, toJsonSchema } from "./json-schema.mjs";

const EVENTS = [
  "check_run",
  "check_suite",
  "create",
  "delete",
  "installation",
  "installation_repositories",
  "installation_target",
  "issue_comment",
  "merge_group",
  "ping",
  "pull_request",
  "pull_request_review",
  "pull_request_review_thread",
  "push",
  "release",
  "repository",
  "status",
];

/** `{ source, operations: { "pull_request opened": schema }, schemas }`; an event without actions is named alone. */
export function pruneWebhooks(source, description) {
  const operations = {};
  for (const [event, action, schema] of Object.values(description.webhooks).map(named)) {
    if (!EVENTS.includes(event)) continue;
    operations[action ? `${event} ${action}` : event] = toJsonSchema(schema);
  }
  const schemas = reached(operations, description.components.schemas);
  return { source, ...shareRepeated({ operations, schemas }) };
}

/** The operation id is `event/action` with dashes for underscores; actions keep their own spelling otherwise. */
function named({ post }) {
  const [event, action] = post.operationId.split("/").map((part) => part.replaceAll("-", "_"));
  return [event, action, post.requestBody.content["application/json"].schema];
}
