import { expect, test } from "@jest/globals";
import { isInterfaceType, isObjectType } from "graphql";
import { githubSchema } from "../../sandbox/forge/graphql/serve-graphql.ts";
import { openOne } from "../support/forge/pull-requests.ts";
import { startTestForge } from "../support/forge/sandbox-forge.ts";

const schema = githubSchema();

/** A selection of all fields of a type that require no argument other than the page size. */
function allFields(name: string, depth: number): string {
  const type = schema.getType(name);
  if (!isObjectType(type) && !isInterfaceType(type)) return "__typename";
  const parts = Object.values(type.getFields()).map((field) => {
    const target = field.type.toString().replaceAll(/[[\]!]/g, "");
    const isPaged = field.args.some((arg) => arg.name === "first");
    if (field.args.some((arg) => arg.type.toString().endsWith("!"))) return "";
    const args = isPaged ? "(first: 5)" : "";
    const isPlain = !/^(?:Actor|GitObject|RepositoryOwner|StatusCheckRollupContext)$/.test(target);
    const named = isPlain ? schema.getType(target) : undefined;
    if (isPlain && !isObjectType(named) && !isInterfaceType(named)) return field.name;
    return depth === 0
      ? ""
      : `${field.name}${args} { __typename ${isPlain ? allFields(target, depth - 1) : ""} }`;
  });
  return parts.join(" ");
}

test("GraphQL serves every field in its schema", async () => {
  const world = await startTestForge();
  const pull = await openOne(world);
  const head = pull.headSha;
  const { api } = world;
  const run = await api("POST", "/repos/acme/web/check-runs", {
    name: "test",
    head_sha: head,
    conclusion: "failure",
    output: {
      title: "Broken",
      summary: "1 test",
      annotations: [{ path: "a", start_line: 1, end_line: 1, annotation_level: "failure", message: "no" }],
    },
  });
  const status = await api("POST", `/repos/acme/web/statuses/${head}`, { state: "success", context: "ci" });
  const review = await api("POST", `/repos/acme/web/pulls/${pull.number}/reviews`, {
    event: "COMMENT",
    body: "Hm",
  });
  const comment = await api("POST", `/repos/acme/web/issues/${pull.number}/comments`, { body: "Hm" });
  const commit = await api("GET", `/repos/acme/web/commits/${head}`);
  const things = {
    Repository: await api("GET", "/repos/acme/web"),
    PullRequest: await api("GET", `/repos/acme/web/pulls/${pull.number}`),
    Commit: commit,
    CheckRun: run,
    StatusContext: status,
    PullRequestReview: review,
    IssueComment: comment,
    User: await api("GET", "/user"),
    Organization: await api("GET", "/orgs/acme"),
  };
  for (const [type, response] of Object.entries(things)) {
    const query = `query ($id: ID!) { node(id: $id) { __typename ... on ${type} { ${allFields(type, 2)} } } }`;
    const found = await world.graphql(query, { id: response.at("node_id") });
    // A field that an object does not have returns an error.
    expect(found.body).not.toHaveProperty("errors");
    expect(found.at("data.node.__typename")).toBe(type);
  }
  await world.stop();
});
