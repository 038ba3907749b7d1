import { targetOf } from "../flow/flow.ts";
import type { Refusal } from "../flow/refusal.ts";
import { ForgeUnavailable, type InspectedPullRequest, type RepositoryRef } from "../forge/forge.ts";
import { findLeftBranch } from "../store/forge/branches.ts";
import { lockCard, type CardHead } from "../store/cards/cards.ts";
import { clockOf } from "../store/forge/installations.ts";
import { listLinks } from "../store/cards/links.ts";
import type { Project } from "../store/cards/projects.ts";
import type { Deps } from "./deps.ts";
import { recheckIfBlocked } from "./recheck-blocked.ts";
import { takeOverBranch, type SeenBranch } from "./take-over-branch.ts";
import { transaction } from "../store/db/transaction.ts";

/** The card, in one of its repositories, and who linked it there again. */
export interface Return {
  readonly card: CardHead;
  readonly project: Project;
  readonly repositoryId: string;
  readonly repository: RepositoryRef;
  readonly actorId: string;
}

/** Whether the card has its branch again. Else it begins anew: under another name where pull requests from the earlier branch would be taken for its own. */
export type TakenUp =
  | { readonly state: "taken" }
  | { readonly state: "anew"; readonly spentName: string | null }
  | { readonly state: "refused"; readonly refusal: Refusal };

const ANEW = { state: "anew", spentName: null } as const satisfies TakenUp;

/**
 * Has a card that was unlinked from a repository, and linked again, take up the branch it had there: while that is on the forge, or where its work was
 * merged somewhere, whatever became of the branch since. One that another card has had since is that card's. What the card's stage asks of the branch is
 * left to the caller. Throws `ForgeUnavailable`.
 */
export async function takeUpBranch(deps: Deps, back: Return): Promise<TakenUp> {
  const { card, project, repositoryId, repository, actorId } = back;
  const name = await findLeftBranch(deps.db, card.id, repositoryId);
  if (name === null) return ANEW;
  const askedAt = await clockOf(deps.db);
  const targetBranch = targetOf(project.flow, card.hotfix);
  const [answer] = await deps.forge.inspect([{ repository, branchName: name, targetBranch }]);
  if (!answer) throw new ForgeUnavailable("the forge said nothing of the branch");
  if (answer.refusal) return { state: "refused", refusal: answer.refusal };
  const { headSha, pullRequests } = answer;
  if (headSha === null && !pullRequests.some(isMerged)) {
    return { state: "anew", spentName: pullRequests.length > 0 ? name : null };
  }
  const openPullRequests = pullRequests.filter(({ state }) => state === "open");
  const isTaken = await take(deps, back, actorId, { name, headSha, openPullRequests, askedAt });
  return isTaken ? { state: "taken" } : ANEW;
}

const isMerged = ({ state }: InspectedPullRequest): boolean => state === "merged";

/** False where another card has the branch by now. */
async function take(
  deps: Deps,
  { card, repositoryId }: Return,
  actorId: string,
  branch: SeenBranch,
): Promise<boolean> {
  try {
    await transaction(deps.db, async (trx) => {
      if (!(await lockCard(trx, card.id))) return;
      const link = (await listLinks(trx, card.id)).find((each) => each.repository.id === repositoryId);
      // Unlinked again, or given a branch, since the forge was asked.
      if (!link || link.branchName !== null) return;
      const taker = { cardId: card.id, actor: { userId: actorId, login: null }, repositoryId };
      if (!(await takeOverBranch(trx, taker, branch))) throw new AnothersBranch();
      await recheckIfBlocked(trx, card.id);
    });
    return true;
  } catch (error) {
    if (error instanceof AnothersBranch) return false;
    throw error;
  }
}

class AnothersBranch extends Error {
  override readonly name = "AnothersBranch";
}
