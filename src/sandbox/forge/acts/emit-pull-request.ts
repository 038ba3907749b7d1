import type { ForgeContext } from "../context.ts";
import { presentPullRequest } from "../present/pull-request.ts";
import type { AccountRow, PullRequestRow } from "../rows.ts";
import { emit } from "../webhooks/emit.ts";

/** Tells of something that happened to a pull request; `more` are the action's own fields. */
export async function emitPullRequest(
  forge: ForgeContext,
  pull: PullRequestRow,
  action: string,
  sender: AccountRow,
  more: object = {},
): Promise<void> {
  const repository = forge.state.repositories.need(pull.repositoryId);
  await emit(forge, {
    event: "pull_request",
    action,
    repository,
    sender,
    payload: async () => ({
      number: pull.number,
      pull_request: await presentPullRequest(forge, repository, pull),
      ...more,
    }),
  });
}
