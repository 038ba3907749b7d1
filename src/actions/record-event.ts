import type { ForgeEvent } from "../forge/events.ts";
import type { Deps } from "./deps.ts";
import { followConversation } from "./follow-conversation.ts";
import { heedPush } from "./follow-trunk.ts";
import { recordCheck } from "./record-check.ts";
import { recordComment } from "./record-comment.ts";
import { recordPullRequest } from "./record-pull-request.ts";
import { recordPush } from "./record-push.ts";
import { recordRepository } from "./record-repository.ts";
import { recordReview } from "./record-review.ts";
import { syncInstallation } from "./sync-installation.ts";

/** Records what happened on the forge, told or found, and then whose turn it is where it happened. */
export async function recordEvent(deps: Deps, event: ForgeEvent): Promise<void> {
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
