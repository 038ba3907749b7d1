import type { Commented, PullRequestEvent } from "../forge/events.ts";
import { findCardById } from "../store/cards/cards.ts";
import { findBranchOwner } from "../store/forge/branches.ts";
import { findProposedCard, removeProposal, saveProposal } from "../store/forge/pull-requests.ts";
import type { Repository } from "../store/forge/repositories.ts";
import { recordEvents, type EventKind } from "../store/events/timeline.ts";
import type { Deps } from "./deps.ts";
import { forgeActor } from "./forge-actor.ts";
import { hearAgainSoon } from "./hear-again.ts";
import { isAgentOn } from "./is-agent.ts";
import { deedKey } from "./record-deeds.ts";
import { isGivenUp, recordClosedByAgent, recordGiveUp } from "./record-give-up.ts";
import { transaction } from "../store/db/transaction.ts";

/** What is told of a proposal, by what happened to its pull request. */
const KIND: Partial<Record<PullRequestEvent["action"], EventKind>> = {
  opened: "proposal_opened",
  retargeted: "proposal_opened",
  merged: "proposal_accepted",
};

/**
 * Remembers a pull request that is no card's own while it aims at a card's branch. An agent's is told on the card's timeline: opened by the agent,
 * accepted by whoever merged it.
 */
export async function recordProposal(
  deps: Deps,
  repository: Repository,
  event: PullRequestEvent,
): Promise<void> {
  const cardId = await findBranchOwner(deps.db, repository.id, event.targetBranch);
  const card = cardId && (await findCardById(deps.db, cardId));
  if (!card) return removeProposal(deps.db, repository.id, event.number);
  const author = await forgeActor(deps, deps.db, event.author);
  const isProposal = await isAgentOn(deps.db, card.workspaceId, event.author);
  const isClosedByAgent = await isGivenUp(deps.db, card.workspaceId, event);
  const { number, headBranch, headSha, targetBranch } = event;
  const where = { cardId: card.id, workspaceId: card.workspaceId, repositoryId: repository.id };
  await transaction(deps.db, async (trx) => {
    const isNew = await saveProposal(trx, {
      repositoryId: repository.id,
      number,
      cardId: card.id,
      authorId: author.userId,
      title: event.title.replaceAll("\0", ""),
      headBranch,
      targetBranch,
      state: stateOf(event),
      headSha,
      heardAt: event.at,
    });
    if (isNew) await hearAgainSoon(trx, repository.id, number);
    const kind = KIND[event.action];
    if (isProposal && kind) {
      const sha = event.action === "merged" ? { sha: event.mergeSha } : { headBranch };
      await recordEvents(trx, [
        {
          cardId: card.id,
          kind,
          actor: event.action === "merged" ? await forgeActor(deps, trx, event.mergedBy) : author,
          repositoryId: repository.id,
          data: { prNumber: number, targetBranch, ...sha },
          at: event.at,
          naturalKey: deedKey(kind, repository.id, number),
        },
      ]);
    }
    if (isClosedByAgent) await recordClosedByAgent(trx, where, event, author);
  });
}

const stateOf = ({ action, isDraft }: PullRequestEvent): "draft" | "open" | "merged" | "closed" => {
  if (action === "merged" || action === "closed") return action;
  return isDraft ? "draft" : "open";
};

/** Hears from a proposal's conversation whether its agent gives up. What else is said there is no part of the card. */
export async function recordProposalComment(
  deps: Deps,
  repository: Repository,
  event: Commented,
): Promise<void> {
  const proposed = await findProposedCard(deps.db, repository.id, event.number);
  if (!proposed) return;
  await transaction(deps.db, async (trx) => {
    const actor = await forgeActor(deps, trx, event.author);
    await recordGiveUp(trx, { ...proposed, repositoryId: repository.id }, event, actor);
  });
}
