import type { Deps } from "../actions/deps.ts";
import { followConversation } from "../actions/follow-conversation.ts";
import { heedPush } from "../actions/follow-trunk.ts";
import { knownRepository } from "../actions/known-repository.ts";
import { recordCheck } from "../actions/record-check.ts";
import { recordComment } from "../actions/record-comment.ts";
import { recordPullRequest } from "../actions/record-pull-request.ts";
import { recordPush } from "../actions/record-push.ts";
import { recordReview } from "../actions/record-review.ts";
import { recordRepository } from "../actions/record-repository.ts";
import { syncInstallation } from "../actions/sync-installation.ts";
import type { Commented, ForgeEvent, ReviewSubmitted } from "../forge/events.ts";
import { findConversation } from "../store/conversations.ts";

/**
 * Records an event, and then whose turn it is where it happened. Gives what was said on a pull request that nothing here knows of: it has
 * to be heard again once that is known.
 */
export async function handleEvent(deps: Deps, event: ForgeEvent): Promise<Said | null> {
  const early = isSaid(event) && !(await isHeard(deps, event)) ? event : null;
  await record(deps, event);
  await followConversation(deps, event);
  return early;
}

export type Said = Commented | ReviewSubmitted;

const isSaid = (event: ForgeEvent): event is Said =>
  event.type === "commented" || event.type === "review_submitted";

/** Whether the pull request that something was said on is a card's or a proposal, or can be neither. */
export async function isHeard(deps: Deps, event: Said): Promise<boolean> {
  const repository = await knownRepository(deps, event);
  return repository === null || (await findConversation(deps.db, repository.id, event.number)) !== null;
}

/** Sends each kind of event to the action it calls for. */
async function record(deps: Deps, event: ForgeEvent): Promise<void> {
  switch (event.type) {
    case "pushed":
      await heedPush(deps, event);
      return recordPush(deps, event);
    case "pull_request":
      return recordPullRequest(deps, event);
    case "check_reported":
      return recordCheck(deps, event);
    case "review_submitted":
      return recordReview(deps, event);
    case "commented":
      return recordComment(deps, event);
    case "installation_changed":
      return syncInstallation(deps, event.installationId);
    case "repository_changed":
      return recordRepository(deps, event);
    case "irrelevant":
      return;
  }
}
