import { conflict } from "../errors.ts";
import { DEFAULT_COLOR, type Color } from "../flow/colors.ts";
import { findLabel, insertLabel } from "../store/labels.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";

export const labelNameTaken = (name: string): Error =>
  conflict(`This board has a label named ${JSON.stringify(name)} already; case makes no difference.`);

/** Adds a label to the board, gray unless a colour is chosen. Answers 201 with it. */
export async function createLabel(
  deps: Deps,
  caller: Caller,
  { name, color = DEFAULT_COLOR }: { readonly name: string; readonly color?: Color | undefined },
): Promise<Answered> {
  const { workspaceId } = caller;
  const id = deps.newId();
  return deps.db.transaction(async (trx) => {
    if (!(await insertLabel(trx, { id, workspaceId, name, color }))) throw labelNameTaken(name);
    return caller.answer(trx, await findLabel(trx, workspaceId, id), 201);
  });
}
