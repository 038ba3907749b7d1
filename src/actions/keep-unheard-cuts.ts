import { BROKEN_WORDS } from "../flow/connection.ts";
import { ForgeUnavailable } from "../forge/forge.ts";
import { findCardById } from "../store/cards/cards.ts";
import { forgetInboxItems } from "../store/inbox/stored-items.ts";
import { isBranchTaken } from "../store/forge/branches.ts";
import { listUnheardCuts } from "../store/ops/reconciling.ts";
import { branchKey } from "./branch-items.ts";
import { catchUpSoon } from "./catch-up-card.ts";
import type { Deps } from "./deps.ts";
import { recordBranchCut } from "./record-deeds.ts";

/** How many are looked for at a time, with a call each. */
const BATCH = 25;

/**
 * Gives cards the branches we cut for them without hearing that it was done, where no move asks for them any more: it was refused, or made way for
 * another. Throws `ForgeUnavailable`.
 */
export async function keepUnheardCuts(deps: Deps, organizationId: string, quietMs: number): Promise<void> {
  const cuts = await listUnheardCuts(deps.db, organizationId, { quietMs, limit: BATCH });
  if (!cuts) throw new ForgeUnavailable(BROKEN_WORDS.refused);
  for (const { cardId, actorId, repositoryId, ref, branchName } of cuts) {
    const headSha = await deps.forge.branchHead(ref, branchName);
    const card = headSha === null ? null : await findCardById(deps.db, cardId);
    if (!card || headSha === null || (await isBranchTaken(deps.db, repositoryId, branchName))) continue;
    const intent = { repositoryId, kind: "create_branch", subject: branchName } as const;
    await recordBranchCut(deps, { card, actorId }, intent, headSha);
    await forgetInboxItems(deps.db, "branch_suggestion", branchKey(repositoryId, branchName));
    await catchUpSoon(deps.db, cardId);
    deps.log.info({ cardId, branchName }, "found a branch we had cut");
  }
}
