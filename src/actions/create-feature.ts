import { DEFAULT_COLOR, type Color } from "../flow/colors.ts";
import { findFeature, insertFeature } from "../store/cards/features.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import type { Deps } from "./deps.ts";

export interface CreateFeatureInput {
  readonly name: string;
  readonly description?: string | undefined;
  readonly color?: Color | undefined;
}

/** Adds a feature behind the board's others, gray unless a colour is chosen. Answers 201 with it. */
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
