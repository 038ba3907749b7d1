import { notFound } from "../errors.ts";
import {
  findFeature,
  placeFeature,
  updateFeature,
  type Feature,
  type FeatureChanges,
} from "../store/features.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";

/** Sets the fields that are given and, where a position is, moves the feature there. Answers with the whole feature. */
export async function changeFeature(
  deps: Deps,
  caller: Caller,
  feature: Feature,
  { position, ...changes }: FeatureChanges & { readonly position?: number | undefined },
): Promise<Answered> {
  const { workspaceId } = caller;
  return deps.db.transaction(async (trx) => {
    await updateFeature(trx, feature.id, changes);
    if (position !== undefined) await placeFeature(trx, workspaceId, feature.id, position);
    const changed = await findFeature(trx, workspaceId, feature.id);
    if (!changed) throw notFound("There is no feature with this id on this board.");
    return caller.answer(trx, changed);
  });
}
