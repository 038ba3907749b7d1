import { removeLabel, type Label } from "../store/cards/labels.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";

/** Deletes a label and takes it off every card at once. Answers 204. */
export async function deleteLabel(write: Write, label: Label): Promise<StoredAnswer> {
  const { trx } = write;
  await removeLabel(trx, label.id);
  return write.answer(null, 204);
}
