import { requireFound } from "../../errors.ts";
import { DEFAULT_COLOR, type Color } from "../../flow/colors.ts";
import {
  findFeature,
  insertFeature,
  placeFeature,
  removeFeature,
  updateFeature,
  type Feature,
  type FeatureChanges,
} from "../../store/features.ts";
import type { StoredAnswer } from "../../store/idempotency.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";

interface CreateFeatureInput {
  readonly name: string;
  readonly description?: string | undefined;
  readonly color?: Color | undefined;
}

/** Adds a feature after the board's others, gray unless a color is chosen. Answers 201 with it. */
export async function createFeature(
  deps: Deps,
  write: Write,
  { name, description = "", color = DEFAULT_COLOR }: CreateFeatureInput,
): Promise<StoredAnswer> {
  const { trx, workspaceId } = write;
  const id = deps.newId();
  await insertFeature(trx, { id, workspaceId, name, description, color });
  return write.answer(await findFeature(trx, workspaceId, id), 201);
}

/** Sets the given fields; a given position moves the feature there. Answers with the feature. */
export async function changeFeature(
  write: Write,
  { id }: Feature,
  { position, ...changes }: FeatureChanges & { readonly position?: number | undefined },
): Promise<StoredAnswer> {
  const { trx, workspaceId } = write;
  await updateFeature(trx, id, changes);
  if (position !== undefined) await placeFeature(trx, workspaceId, id, position);
  return write.answer(requireFound(await findFeature(trx, workspaceId, id), "feature"));
}

/** Deletes a feature; its cards stay, without it. Answers 204. */
export async function deleteFeature(write: Write, feature: Feature): Promise<StoredAnswer> {
  await removeFeature(write.trx, feature.id);
  return write.answer(null, 204);
}
