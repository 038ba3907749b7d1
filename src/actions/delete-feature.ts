import { removeFeature, type Feature } from "../store/cards/features.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";

/** Deletes a feature; its cards stay, without it. Answers 204. */
export async function deleteFeature(write: Write, feature: Feature): Promise<StoredAnswer> {
  const { trx } = write;
  await removeFeature(trx, feature.id);
  return write.answer(null, 204);
}
