import { conflict, invalid, notFound } from "../../errors.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { pickBranch } from "../../forge/releasing.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import {
  deletePickBranches,
  listLeftoverPickBranches,
  type LeftoverPickBranches,
} from "../../store/releases/release-branches.ts";
import { lockProject } from "../../store/cards/projects.ts";
import { lockCards } from "../../store/releases/release-cards.ts";
import type { ReleaseHead } from "../../store/releases/releases.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import { runPick } from "./run-pick.ts";
import { operateOnRelease } from "./release-operation.ts";
import { requireInNoOtherRelease } from "./releases.ts";

/**
 * Adds a card to a frozen release: picks its merged commits onto the release's branch in each of
 * its repositories, in all of them or in none. Commits that a branch contains are not picked again.
 * Returns the release. Throws `not_found` for a number that no card of the board has, and
 * `refused` for a card that is not merged or conflicts.
 */
export async function pickCard(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  taskNumber: number,
): Promise<StoredResponse> {
  // Every transaction locks the project first, then cards, then releases.
  await lockProject(write.trx, release.projectId, "share");
  const [card] = await lockCards(write.trx, write.workspaceId, [taskNumber]);
  if (!card) throw notFound(`There is no card ${taskNumber} on this board.`);
  if (card.projectId !== release.projectId) {
    const message = `card ${taskNumber} belongs to another project`;
    throw invalid(`body.taskNumber: ${message}`, [{ path: "body.taskNumber", message }]);
  }
  return operateOnRelease(
    deps,
    write,
    release,
    { kind: "pick", input: { cardId: card.id }, pickedCardId: card.id },
    runPick,
    (trx, current) => isPickable(trx, current, card.id),
  );
}

async function isPickable(trx: Trx, release: ReleaseHead, cardId: string): Promise<boolean> {
  if (!release.frozenAt) {
    throw conflict(
      `The release ${release.name} is not frozen. Set its cards with PUT /v1/releases/${release.id}/cards.`,
    );
  }
  await requireInNoOtherRelease(trx, release, [{ id: cardId }]);
  return true;
}

/** Removes temporary branches of ended picks whose removal GitHub has not confirmed. */
export async function sweepPickBranches(deps: Deps): Promise<void> {
  for (const leftovers of await listLeftoverPickBranches(deps.db)) {
    try {
      await sweep(deps, leftovers);
    } catch (error) {
      if (!(error instanceof ForgeUnavailable)) throw error;
      const { fullName: repository } = leftovers.forgeRef;
      deps.log.warn({ err: error, repository }, "temporary branches of picks could not be removed");
    }
  }
}

async function sweep(
  deps: Deps,
  { repositoryId, forgeRef, operationIds }: LeftoverPickBranches,
): Promise<void> {
  const left = new Map(
    (await deps.forge.temporaryBranches(forgeRef)).map(({ branchName, sha }) => [branchName, sha]),
  );
  const gone: string[] = [];
  for (const operationId of operationIds) {
    const branchName = pickBranch(operationId);
    const sha = left.get(branchName);
    const deletion = sha === undefined ? null : await deps.forge.deleteBranch(forgeRef, branchName, sha);
    if (deletion === null || (deletion.ok && "deleted" in deletion.value)) gone.push(operationId);
  }
  await deletePickBranches(deps.db, gone, repositoryId);
}
