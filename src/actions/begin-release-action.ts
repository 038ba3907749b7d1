import { isDeepStrictEqual } from "node:util";
import { busy, type Problem } from "../errors.ts";
import type { Db, Trx } from "../store/db/connect.ts";
import { lockProject } from "../store/cards/projects.ts";
import {
  findActionOfRequest,
  findOpenAction,
  insertAction,
  takeOverAction,
  type HeldAction,
  type ReleaseAction,
  type ReleaseActionKind,
} from "../store/releases/release-actions.ts";
import type { ReleaseHead } from "../store/releases/releases.ts";
import type { Deps } from "./deps.ts";
import { holdOpenRelease } from "./hold-release.ts";

/** An action on a release that this process holds. */
export interface RunningAction extends HeldAction {
  readonly kind: ReleaseActionKind;
  readonly actorId: string;
  readonly input: unknown;
  readonly progress: unknown;
}

export type BegunAction =
  | { readonly state: "held"; readonly action: RunningAction }
  /** An earlier try of the same request got through, or another process is at work on it. */
  | { readonly state: "finished" | "under_way"; readonly actionId: string }
  | { readonly state: "needless" };

export interface ReleaseActionRequest {
  readonly kind: ReleaseActionKind;
  readonly input: unknown;
  readonly cardId?: string;
  readonly actorId: string;
  readonly requestId: string;
}

/**
 * Makes the caller the one who is at work on a release. The same action that nobody is at work on any more is taken over, with what it
 * came to; any other has to end first. `isNeeded` is asked before a new one is begun, with the release held: it may refuse as well. Throws busy while something else is under way, `conflict` once the release is completed.
 */
export async function beginReleaseAction(
  deps: Deps,
  trx: Trx,
  release: ReleaseHead,
  request: ReleaseActionRequest,
  isNeeded: (current: ReleaseHead) => Promise<boolean>,
): Promise<BegunAction> {
  await lockProject(trx, release.projectId, "share");
  const earlier = await findActionOfRequest(trx, release.id, request.requestId);
  if (earlier?.state === "done") return { state: "finished", actionId: earlier.id };
  const current = await holdOpenRelease(trx, release);
  const open = await findOpenAction(trx, current.id);
  if (open?.isHeld && open.requestId === request.requestId) return { state: "under_way", actionId: open.id };
  if (open) return { state: "held", action: await takeOverSame(deps, trx, current, open, request) };
  if (!(await isNeeded(current))) return { state: "needless" };
  const id = deps.newId();
  await insertAction(trx, {
    id,
    workspaceId: current.workspaceId,
    releaseId: current.id,
    kind: request.kind,
    input: request.input,
    cardId: request.cardId ?? null,
    actorId: request.actorId,
    requestId: request.requestId,
    holder: deps.instanceId,
  });
  const { kind, actorId, input } = request;
  return { state: "held", action: { id, attempt: 1, kind, actorId, input, progress: {} } };
}

async function takeOverSame(
  deps: Deps,
  trx: Trx,
  release: ReleaseHead,
  open: ReleaseAction,
  { kind, input, requestId }: ReleaseActionRequest,
): Promise<RunningAction> {
  const isSame = open.kind === kind && isDeepStrictEqual(open.input, input);
  if (open.isHeld || !isSame) throw underWay(release, open);
  const taken = await takeOverAction(trx, open, { holder: deps.instanceId, requestId });
  if (!taken) throw underWay(release, open);
  return { ...open, attempt: taken.attempt };
}

const DOING: Readonly<Record<ReleaseActionKind, string>> = {
  freeze: "is being frozen",
  unfreeze: "is being unfrozen",
  pick: "is having a card picked",
  promote: "is being promoted",
  complete: "is being completed",
};

/** Something else is being done to the release, or waits for the forge to be reached again. */
export const underWay = (
  release: { readonly name: string },
  { kind }: Pick<ReleaseAction, "kind">,
): Problem => busy(`The release ${release.name} ${DOING[kind]}. Try again once that is done.`, 2);

/** Refuses to touch a release something is being done to. The release is held by the caller. */
export async function requireIdle(db: Db, release: ReleaseHead): Promise<void> {
  const open = await findOpenAction(db, release.id);
  if (open) throw underWay(release, open);
}
