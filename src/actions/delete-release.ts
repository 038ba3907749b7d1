import { conflict } from "../errors.ts";
import { listReleaseTags, removeRelease, type ReleaseHead } from "../store/releases/releases.ts";
import { requireIdle } from "./begin-release-action.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { holdOpenRelease } from "./hold-release.ts";

/**
 * Deletes a release; its cards stay. Answers 204. Throws `conflict` while it is frozen, because its branches would be left on the forge
 * with nothing to tell whose they are, and once it is tagged or completed.
 */
export async function deleteRelease(write: Write, release: ReleaseHead): Promise<StoredAnswer> {
  const { trx } = write;
  const current = await holdOpenRelease(trx, release);
  if (current.frozenAt) {
    throw conflict(
      `The release ${current.name} is frozen: it has branches on the forge. Unfreeze it with DELETE /v1/releases/${current.id}/freeze first.`,
    );
  }
  await requireIdle(trx, current);
  const [tag] = await listReleaseTags(trx, current.id);
  if (tag) {
    throw conflict(
      `The release ${current.name} has the tag ${tag.tagName} on the forge. Complete it, which finishes the rest.`,
    );
  }
  await removeRelease(trx, current.id);
  return write.answer(null, 204);
}
