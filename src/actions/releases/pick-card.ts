import { conflict, invalid, notFound } from "../../errors.ts";
import { ForgeUnavailable } from "../../forge/forge.ts";
import { pickBranch } from "../../forge/releasing.ts";
import { findCard } from "../../store/cards.ts";
import type { Trx } from "../../store/connect.ts";
import type { StoredAnswer } from "../../store/idempotency.ts";
import { forgetPickBranches, listPickLeftovers, type PickLeftovers } from "../../store/pick-branches.ts";
import { holdCards } from "../../store/release-cards.ts";
import type { ReleaseHead } from "../../store/releases.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import { carryOutPick } from "./carry-out-pick.ts";
import { actOnRelease } from "./release-action.ts";
import { requireInNoOther } from "./releases.ts";

/**
 * Takes a card into a frozen release: its merged commits are picked onto the release's branch in each of its repositories, in order, in all of
 * them or in none. What a branch has already is not picked again. Answers with the release. Throws `refused` for a card that is not merged
 * yet, or conflicts, `not_found` for a number that no card of the board has.
 */
export async function pickCard(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  taskNumber: number,
): Promise<StoredAnswer> {
  const card = await findCard(write.trx, write.workspaceId, taskNumber);
  if (!card) throw noCard(taskNumber);
  if (card.projectId !== release.projectId) {
    const message = `card ${taskNumber} belongs to another project`;
    throw invalid(`body.taskNumber: ${message}`, [{ path: "body.taskNumber", message }]);
  }
  return actOnRelease(
    deps,
    write,
    release,
    { kind: "pick", input: { cardId: card.id }, cardId: card.id },
    carryOutPick,
    {
      // Cards before releases, as everybody who needs both.
      first: async (trx) => {
        const [held] = await holdCards(trx, write.workspaceId, [taskNumber]);
        if (!held) throw noCard(taskNumber);
      },
      isNeeded: (trx, current) => isPickable(trx, current, card.id),
    },
  );
}

const noCard = (number: number): Error => notFound(`There is no card ${number} on this board.`);

async function isPickable(trx: Trx, release: ReleaseHead, cardId: string): Promise<boolean> {
  if (!release.frozenAt) {
    throw conflict(
      `The release ${release.name} is not frozen. Set its cards with PUT /v1/releases/${release.id}/cards.`,
    );
  }
  await requireInNoOther(trx, release, [{ id: cardId }]);
  return true;
}

export const SWEEP_PICK_LEFTOVERS = "sweep-pick-leftovers";

/**
 * Takes away the temporary branches of picks that have ended: the forge may not have answered when they were to be removed. Asks the forge
 * nothing where all are known to be gone.
 */
export async function sweepPickLeftovers(deps: Deps): Promise<void> {
  for (const leftovers of await listPickLeftovers(deps.db)) {
    try {
      await sweep(deps, leftovers);
    } catch (error) {
      if (!(error instanceof ForgeUnavailable)) throw error;
      deps.log.warn(
        { err: error, repository: leftovers.ref.fullName },
        "leftovers of picks could not be looked for",
      );
    }
  }
}

async function sweep(deps: Deps, { repositoryId, ref, actionIds }: PickLeftovers): Promise<void> {
  const left = new Map(
    (await deps.forge.temporaryBranches(ref)).map(({ branchName, sha }) => [branchName, sha]),
  );
  const gone: string[] = [];
  for (const actionId of actionIds) {
    const branchName = pickBranch(actionId);
    const sha = left.get(branchName);
    const deletion = sha === undefined ? null : await deps.forge.deleteBranch(ref, branchName, sha);
    if (deletion === null || (deletion.ok && "deleted" in deletion.value)) gone.push(actionId);
  }
  await forgetPickBranches(deps.db, gone, repositoryId);
}
