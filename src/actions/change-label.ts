import { notFound } from "../errors.ts";
import type { Color } from "../flow/colors.ts";
import { findLabel, updateLabel, type Label } from "../store/labels.ts";
import type { Answered, Caller } from "./caller.ts";
import { labelNameTaken, requireFreeName } from "./create-label.ts";
import type { Deps } from "./deps.ts";

/** Renames or recolours a label, on every card that carries it. Answers with the whole label. */
export async function changeLabel(
  deps: Deps,
  caller: Caller,
  label: Label,
  input: { readonly name?: string | undefined; readonly color?: Color | undefined },
): Promise<Answered> {
  return deps.db.transaction(async (trx) => {
    if (input.name !== undefined) await requireFreeName(trx, caller.workspaceId, input.name, label.id);
    if (!(await updateLabel(trx, label.id, input))) throw labelNameTaken(input.name ?? label.name);
    const changed = await findLabel(trx, caller.workspaceId, label.id);
    if (!changed) throw notFound("There is no label with this id on this board.");
    return caller.answer(trx, changed);
  });
}
