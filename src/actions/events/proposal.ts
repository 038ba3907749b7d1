import type { PullRequestEvent } from "../../forge/events.ts";
import { saveProposal } from "../../store/forge/pull-requests.ts";
import { type EventKind } from "../../store/events/event-kinds.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { Deps } from "../deps.ts";
import { forgeActor, isAgentOn } from "../members/forge-accounts.ts";
import { effectKey } from "../moves/record-effects.ts";
import { recordPullRequestActivity } from "./conversation.ts";
import { closesOwnPullRequest, recordClosedByAgent } from "../cards/give-up.ts";
import type { EventContext } from "./event-context.ts";
import { stateOf } from "./pull-request.ts";
import { transaction } from "../../store/db/transaction.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** The actions that the timeline shows. */
const KIND: Partial<Record<PullRequestEvent["action"], EventKind>> = {
  opened: "proposal_opened",
  retargeted: "proposal_opened",
  merged: "proposal_accepted",
};

/**
 * Stores a proposal: a pull request into a card's branch. The timeline shows an agent's proposal as
 * opened by the agent and accepted by the account that merged it.
 */
export async function handleProposal(
  deps: Deps,
  event: PullRequestEvent,
  { repository, card, actor }: EventContext,
): Promise<void> {
  const author = await forgeActor(deps, deps.db, event.author);
  const isByAgent = await isAgentOn(deps.db, card.workspaceId, event.author);
  const isClosedByAgent = await closesOwnPullRequest(deps.db, card.workspaceId, event);
  const { number, headBranch, headSha, targetBranch } = event;
  await transaction(deps.db, async (trx) => {
    const isNew = await saveProposal(trx, {
      repositoryId: repository.id,
      number,
      cardId: card.id,
      authorId: author.userId,
      title: event.title,
      headBranch,
      targetBranch,
      state: stateOf(event),
      headSha,
      eventAt: event.at,
    });
    if (isNew) await schedule(trx, JOBS.replayDeferred, { repositoryId: repository.id, number });
    await recordPullRequestActivity(trx, repository.id, event, actor);
    const kind = KIND[event.action];
    if (isByAgent && kind) {
      const commitOrBranch = event.action === "merged" ? { sha: event.mergeSha } : { headBranch };
      await recordEvents(trx, [
        {
          cardId: card.id,
          kind,
          actor: event.action === "merged" ? await forgeActor(deps, trx, event.mergedBy) : author,
          repositoryId: repository.id,
          data: { prNumber: number, targetBranch, ...commitOrBranch },
          at: event.at,
          naturalKey: effectKey(kind, repository.id, number),
        },
      ]);
    }
    const work = { cardId: card.id, repositoryId: repository.id };
    if (isClosedByAgent) await recordClosedByAgent(trx, work, event, author);
  });
}
