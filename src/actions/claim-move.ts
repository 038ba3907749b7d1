import { rolesWithin } from "../flow/roles.ts";
import type { AtOnce } from "../store/at-once.ts";
import { claimAndBegin } from "../store/begun-moves.ts";
import { releaseUnheard } from "../store/idempotency.ts";
import { settleOperation } from "../store/operations.ts";
import { Outdated } from "../store/presumption.ts";
import type { Begun, KeyedAsker } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { goOnWithMove } from "./move-card.ts";
import { moveWithoutGit, RULES_WITHOUT_GIT } from "./move-without-git.ts";
import { persevere } from "./persevere.ts";

interface Wanted {
  readonly number: number;
  readonly statusId: string;
  readonly index: number;
}

/** Stages that cards were lately moved into through the forge: of these that is tried first, which decides nothing but the order. */
const throughForge = new Set<string>();
const MOST_STAGES = 10_000;

/** Does a move in one round trip where it asks nothing of the forge, and begins it in one where it does; null, and nothing is done, where something is in the way. */
export async function moveOrBegin(deps: Deps, asker: KeyedAsker, wanted: Wanted): Promise<AtOnce | Begun> {
  const { statusId } = wanted;
  if (!throughForge.has(statusId)) {
    return (await moveWithoutGit(deps, asker, wanted.number, wanted)) ?? claimMove(deps, asker, wanted);
  }
  const begun = await claimMove(deps, asker, wanted);
  if (begun) return begun;
  const moved = await moveWithoutGit(deps, asker, wanted.number, wanted);
  if (moved?.state === "done") throughForge.delete(statusId);
  return moved;
}

/** Claims a key and begins a move through the forge in one round trip, where the caller may make it and nothing stands in its way. */
async function claimMove(
  deps: Deps,
  asker: KeyedAsker,
  { number, statusId: stageId, index }: Wanted,
): Promise<Begun | null> {
  const { userId: actorId, workspaceId, credentialId, requestId, presumed, key, fingerprint } = asker;
  const { instanceId: holder } = deps;
  const move = { id: deps.newId(), attempt: 1, actorId, index, isFirst: true };
  const claim = { credentialId, key, fingerprint, holder };
  const wanted = { roles: rolesWithin(asker.role), rulesWithoutGit: RULES_WITHOUT_GIT };
  const asked = { id: move.id, workspaceId, number, stageId, index, actorId, requestId, ...wanted };
  try {
    const begun = await claimAndBegin(deps.db, { presumed, ...claim }, asked);
    if (!begun) return null;
    if (throughForge.size >= MOST_STAGES) throughForge.clear();
    throughForge.add(stageId);
    const { held, ...beginning } = begun;
    return { state: "begun", held, goOn: (caller) => goOnWithMove(deps, caller, stageId, move, beginning) };
  } catch (error) {
    if (error instanceof Outdated) throw error;
    // The database may have kept it all the same, and only its word for that was lost.
    await persevere(deps.log, "a move", () => settleOperation(deps.db, move, "running"));
    await persevere(deps.log, "an idempotency key", () => releaseUnheard(deps.db, claim));
    throw error;
  }
}
