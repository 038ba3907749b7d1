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
} from "../../store/cards/features.ts";
import { recordChange } from "../../store/events/feed.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";

interface CreateFeatureInput {
  readonly name: string;
  readonly description?: string | undefined;
  readonly color?: Color | undefined;
}

/** Adds a feature after the board's others, gray unless a color is chosen. Returns 201 with it. */
export async function createFeature(
  deps: Deps,
  write: Write,
  { name, description = "", color = DEFAULT_COLOR }: CreateFeatureInput,
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  const id = deps.newId();
  await insertFeature(trx, { id, workspaceId, name, description, color });
  const feature = requireFound(await findFeature(trx, workspaceId, id), "feature");
  await recordFeature(write, null, feature);
  return write.respond(feature, 201);
}

/** Sets the given fields; a given position moves the feature there. Returns the feature. */
export async function changeFeature(
  write: Write,
  feature: Feature,
  { position, ...changes }: FeatureChanges & { readonly position?: number | undefined },
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  const { id } = feature;
  await updateFeature(trx, id, changes);
  if (position !== undefined) await placeFeature(trx, workspaceId, id, position);
  const changed = requireFound(await findFeature(trx, workspaceId, id), "feature");
  await recordFeature(write, feature, changed);
  return write.respond(changed);
}

/** Deletes a feature; its cards stay, without it. Returns 204. */
export async function deleteFeature(write: Write, feature: Feature): Promise<StoredResponse> {
  await removeFeature(write.trx, feature.id);
  await recordFeature(write, feature, null);
  return write.respond(null, 204);
}

const recordFeature = (write: Write, from: Feature | null, to: Feature | null): Promise<void> =>
  recordChange(write.trx, write, {
    kind: "feature_changed",
    data: { from: from && eventDataOf(from), to: to && eventDataOf(to) },
  });

const eventDataOf = ({ id, name, color, archived, position }: Feature): Partial<Feature> => {
  return { id, name, color, archived, position };
};
