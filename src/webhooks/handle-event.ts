import type { Deps } from "../actions/deps.ts";
import { followConversation } from "../actions/follow-conversation.ts";
import { heedPush } from "../actions/follow-trunk.ts";
import { recordCheck } from "../actions/record-check.ts";
import { recordComment } from "../actions/record-comment.ts";
import { recordPullRequest } from "../actions/record-pull-request.ts";
import { recordPush } from "../actions/record-push.ts";
import { recordReview } from "../actions/record-review.ts";
import { recordRepository } from "../actions/record-repository.ts";
import { syncInstallation } from "../actions/sync-installation.ts";
import type { ForgeEvent } from "../forge/events.ts";

/** Records an event, and then whose turn it is where it happened. */
export async function handleEvent(deps: Deps, event: ForgeEvent): Promise<void> {
  await record(deps, event);
  await followConversation(deps, event);
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
