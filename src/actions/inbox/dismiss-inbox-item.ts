import { conflict, notFound, type Problem } from "../../errors.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { recordChange } from "../../store/events/feed.ts";
import type { InboxItem } from "../../store/inbox/list-inbox.ts";
import { dismissInboxItem } from "../../store/inbox/stored-items.ts";
import type { Write } from "../write.ts";

/** Dismisses an inbox item. Returns 204. Throws `conflict` for one that clears automatically. */
export async function dismissItem(write: Write, item: InboxItem): Promise<StoredResponse> {
  if (!item.dismissible) {
    throw conflict(
      `An item of the kind ${item.kind} clears automatically when its cause is resolved. Its detail: “${item.detail}”`,
    );
  }
  if (!(await dismissInboxItem(write.trx, item.id, write.userId))) throw noInboxItem();
  const { id, kind, projectId } = item;
  await recordChange(write.trx, write, { kind: "inbox_dismissed", data: { id, kind, projectId } });
  return write.respond(null, 204);
}

export const noInboxItem = (): Problem =>
  notFound("There is no item with this id in an inbox of this board. GET /v1/inbox lists them.");
