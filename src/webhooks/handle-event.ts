import type { Deps } from "../actions/deps.ts";
import { knownRepository } from "../actions/known-repository.ts";
import { recordEvent } from "../actions/record-event.ts";
import type { Commented, ForgeEvent, PullRequestEvent, ReviewSubmitted } from "../forge/events.ts";
import { findConversation } from "../store/events/conversations.ts";

/** Records an event. Gives what was said on a pull request that nothing here knows of: it has to be heard again once that is known. */
export async function handleEvent(deps: Deps, event: ForgeEvent): Promise<Said | null> {
  const early = isSaid(event) && !(await isHeard(deps, event)) ? event : null;
  await recordEvent(deps, event);
  return early;
}

export type Said = Commented | ReviewSubmitted;

const isSaid = (event: ForgeEvent): event is Said =>
  event.type === "commented" || event.type === "review_submitted";

/** Whether the pull request that something was said on, or that an event is about, is a card's or a proposal, or can be neither. */
export async function isHeard(deps: Deps, event: Said | PullRequestEvent): Promise<boolean> {
  const repository = await knownRepository(deps, event);
  return repository === null || (await findConversation(deps.db, repository.id, event.number)) !== null;
}
