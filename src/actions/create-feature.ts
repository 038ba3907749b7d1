import { DEFAULT_COLOR, type Color } from "../flow/colors.ts";
import { findFeature, insertFeature } from "../store/features.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";

export interface CreateFeatureInput {
  readonly name: string;
  readonly description?: string | undefined;
  readonly color?: Color | undefined;
}

/** Adds a feature behind the board's others, gray unless a colour is chosen. Answers 201 with it. */
export async function createFeature(
  deps: Deps,
  caller: Caller,
  { name, description = "", color = DEFAULT_COLOR }: CreateFeatureInput,
): Promise<Answered> {
  const { workspaceId } = caller;
  const id = deps.newId();
  return deps.db.transaction(async (trx) => {
    await insertFeature(trx, { id, workspaceId, name, description, color });
    return caller.answer(trx, await findFeature(trx, workspaceId, id), 201);
  });
}
