import { notFound } from "../errors.ts";
import {
  findFeature,
  placeFeature,
  updateFeature,
  type Feature,
  type FeatureChanges,
} from "../store/cards/features.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";

/** Sets the fields that are given and, where a position is, moves the feature there. Answers with the whole feature. */
export async function changeFeature(
  write: Write,
  feature: Feature,
  { position, ...changes }: FeatureChanges & { readonly position?: number | undefined },
): Promise<StoredAnswer> {
  const { trx, workspaceId } = write;
  await updateFeature(trx, feature.id, changes);
  if (position !== undefined) await placeFeature(trx, workspaceId, feature.id, position);
  const changed = await findFeature(trx, workspaceId, feature.id);
  if (!changed) throw notFound("There is no feature with this id on this board.");
  return write.answer(changed);
}
