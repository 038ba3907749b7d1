import { openPullRequest } from "../../../sandbox/forge/actions/open-pull-request.ts";
import type { PullRequestRow } from "../../../sandbox/forge/rows.ts";
import { accountByLogin } from "../../../sandbox/forge/world.ts";
import type { ForgeApiResponse, TestForge } from "./sandbox-forge.ts";

let last = 0;

/** Opens a pull request by ada into main of acme/web, with one commit. */
export async function openOne(world: TestForge, draft = false): Promise<PullRequestRow> {
  const branch = `change-${++last}`;
  const { forge } = world;
  await forge.commit("acme/web", branch, { [`${branch}.txt`]: `${branch}\n` }, { message: `Add ${branch}` });
  const given = {
    title: `Add ${branch}`,
    body: null,
    head: branch,
    base: "main",
    draft,
    maintainerCanModify: false,
  };
  const ada = accountByLogin(forge.context, "ada");
  return openPullRequest(forge.context, forge.repository("acme/web").id, ada, given);
}

/** The GraphQL id of a pull request of acme/web. */
export async function nodeIdOf(world: TestForge, number: number): Promise<string> {
  const query = `query ($n: Int!) { repository(owner: "acme", name: "web") { pullRequest(number: $n) { id } } }`;
  return (await world.graphql(query, { n: number })).at("data.repository.pullRequest.id");
}

/** Status, type and message of a GraphQL response with an error. */
export const errorOf = (response: ForgeApiResponse) => [
  response.status,
  response.at("errors.0.type"),
  response.at("errors.0.message"),
];
