// The REST operations used by Trunkline or served by its sandbox forge, cut out of GitHub's OpenAPI description.
import { mapValues, reached, shareRepeated, toJsonSchema } from "./json-schema.mjs";

const REPOSITORY = "/repos/{owner}/{repo}";
const PULL = `${REPOSITORY}/pulls/{pull_number}`;

/** Path template to methods. */
const OPERATIONS = {
  "/": "get",
  "/app": "get",
  "/app/installations": "get",
  "/app/installations/{installation_id}": "get delete",
  "/app/installations/{installation_id}/access_tokens": "post",
  "/app/installations/{installation_id}/suspended": "put delete",
  "/app-manifests/{code}/conversions": "post",
  "/app/hook/config": "get patch",
  "/app/hook/deliveries": "get",
  "/app/hook/deliveries/{delivery_id}": "get",
  "/app/hook/deliveries/{delivery_id}/attempts": "post",
  "/installation/repositories": "get",
  "/installation/token": "delete",
  "/orgs/{org}": "get",
  "/orgs/{org}/installation": "get",
  "/orgs/{org}/repos": "get post",
  "/users/{username}": "get",
  "/users/{username}/installation": "get",
  "/user": "get",
  "/user/repos": "get post",
  "/meta": "get",
  "/rate_limit": "get",
  [REPOSITORY]: "get patch delete",
  [`${REPOSITORY}/installation`]: "get",
  [`${REPOSITORY}/collaborators/{username}/permission`]: "get",
  [`${REPOSITORY}/git/ref/{ref}`]: "get",
  [`${REPOSITORY}/git/matching-refs/{ref}`]: "get",
  [`${REPOSITORY}/git/refs`]: "post",
  [`${REPOSITORY}/git/refs/{ref}`]: "patch delete",
  [`${REPOSITORY}/git/commits`]: "post",
  [`${REPOSITORY}/git/commits/{commit_sha}`]: "get",
  [`${REPOSITORY}/git/trees`]: "post",
  [`${REPOSITORY}/git/trees/{tree_sha}`]: "get",
  [`${REPOSITORY}/git/blobs`]: "post",
  [`${REPOSITORY}/git/blobs/{file_sha}`]: "get",
  [`${REPOSITORY}/git/tags`]: "post",
  [`${REPOSITORY}/git/tags/{tag_sha}`]: "get",
  [`${REPOSITORY}/branches`]: "get",
  [`${REPOSITORY}/branches/{branch}`]: "get",
  [`${REPOSITORY}/branches/{branch}/rename`]: "post",
  [`${REPOSITORY}/branches/{branch}/protection`]: "get put delete",
  [`${REPOSITORY}/branches/{branch}/protection/required_signatures`]: "get post delete",
  [`${REPOSITORY}/rules/branches/{branch}`]: "get",
  [`${REPOSITORY}/rulesets`]: "get post",
  [`${REPOSITORY}/rulesets/{ruleset_id}`]: "get put delete",
  [`${REPOSITORY}/commits`]: "get",
  [`${REPOSITORY}/commits/{ref}`]: "get",
  [`${REPOSITORY}/commits/{ref}/check-runs`]: "get",
  [`${REPOSITORY}/commits/{ref}/check-suites`]: "get",
  [`${REPOSITORY}/commits/{ref}/status`]: "get",
  [`${REPOSITORY}/commits/{ref}/statuses`]: "get",
  [`${REPOSITORY}/commits/{commit_sha}/pulls`]: "get",
  [`${REPOSITORY}/compare/{basehead}`]: "get",
  [`${REPOSITORY}/contents/{path}`]: "get put delete",
  [`${REPOSITORY}/merges`]: "post",
  [`${REPOSITORY}/pulls`]: "get post",
  [PULL]: "get patch",
  [`${PULL}/commits`]: "get",
  [`${PULL}/files`]: "get",
  [`${PULL}/merge`]: "get put",
  [`${PULL}/merge-async`]: "put",
  [`${PULL}/merge-async/{uuid}`]: "get",
  [`${PULL}/update-branch`]: "put",
  [`${PULL}/requested_reviewers`]: "get post delete",
  [`${PULL}/reviews`]: "get post",
  [`${PULL}/reviews/{review_id}`]: "get put delete",
  [`${PULL}/reviews/{review_id}/events`]: "post",
  [`${PULL}/reviews/{review_id}/dismissals`]: "put",
  [`${REPOSITORY}/issues/{issue_number}`]: "get patch",
  [`${REPOSITORY}/issues/{issue_number}/comments`]: "get post",
  [`${REPOSITORY}/issues/comments`]: "get",
  [`${REPOSITORY}/issues/comments/{comment_id}`]: "get patch delete",
  [`${REPOSITORY}/statuses/{sha}`]: "post",
  [`${REPOSITORY}/check-runs`]: "post",
  [`${REPOSITORY}/check-runs/{check_run_id}`]: "get patch",
  [`${REPOSITORY}/check-runs/{check_run_id}/annotations`]: "get",
  [`${REPOSITORY}/check-runs/{check_run_id}/rerequest`]: "post",
  [`${REPOSITORY}/check-suites`]: "post",
  [`${REPOSITORY}/check-suites/{check_suite_id}`]: "get",
  [`${REPOSITORY}/check-suites/{check_suite_id}/check-runs`]: "get",
  [`${REPOSITORY}/check-suites/{check_suite_id}/rerequest`]: "post",
  [`${REPOSITORY}/releases`]: "get post",
  [`${REPOSITORY}/releases/latest`]: "get",
  [`${REPOSITORY}/releases/tags/{tag}`]: "get",
  [`${REPOSITORY}/releases/{release_id}`]: "get patch delete",
  [`${REPOSITORY}/tags`]: "get",
};

/** Where the description is wrong: there the account that installed an App is a user and an enterprise at once. */
const CORRECTIONS = {
  "get /app/installations": { 200: { type: "array", items: { $ref: "#/schemas/installation" } } },
};

/** `{ source, operations: { "get /path": { request, responses: { "200": schema | null } } }, schemas }`. */
export function pruneRest(source, description) {
  const operations = {};
  for (const [path, methods] of Object.entries(OPERATIONS)) {
    for (const method of methods.split(" ")) {
      const operation = description.paths[path]?.[method];
      if (!operation) throw new Error(`${method} ${path} is not in ${source}`);
      operations[`${method} ${path}`] = {
        request: jsonSchemaOf(operation.requestBody),
        responses: {
          ...mapValues(operation.responses, (response) => jsonSchemaOf(resolve(description, response))),
          ...CORRECTIONS[`${method} ${path}`],
        },
      };
    }
  }
  const all = description.components.schemas;
  // Any operation may be refused with this one, documented or not.
  const schemas = reached([operations, { $ref: "#/schemas/basic-error" }], all);
  return { source, ...shareRepeated({ operations, schemas }) };
}

function resolve(description, response) {
  if (!response.$ref) return response;
  return description.components.responses[response.$ref.replace("#/components/responses/", "")];
}

/** The schema of a JSON body; null where there is none. */
function jsonSchemaOf(body) {
  const schema = body?.content?.["application/json"]?.schema;
  return schema ? toJsonSchema(schema) : null;
}
