import { notFound } from "../errors.ts";
import type { Color } from "../flow/colors.ts";
import { findLabel, updateLabel, type Label } from "../store/cards/labels.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { labelNameTaken, requireFreeName } from "./create-label.ts";

/** Renames or recolours a label, on every card that carries it. Answers with the whole label. */
export async function changeLabel(
  write: Write,
  label: Label,
  input: { readonly name?: string | undefined; readonly color?: Color | undefined },
): Promise<StoredAnswer> {
  const { trx } = write;
  if (input.name !== undefined) await requireFreeName(trx, write.workspaceId, input.name, label.id);
  if (!(await updateLabel(trx, label.id, input))) throw labelNameTaken(input.name ?? label.name);
  const changed = await findLabel(trx, write.workspaceId, label.id);
  if (!changed) throw notFound("There is no label with this id on this board.");
  return write.answer(changed);
}
