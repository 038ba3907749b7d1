import type { Commented } from "../forge/events.ts";
import type { ForgeAccount, ForgeRepository, InspectedWords } from "../forge/forge.ts";
import { listUnshown, type KnownBranch } from "../store/ops/reconciling.ts";
import type { Deps } from "./deps.ts";
import { recordEvent } from "./record-event.ts";

/**
 * Records the deletion of comments that are told here and that the forge would have shown, were they there still: none of those written
 * before the ones it showed. What is deleted is forgotten for good, so each is asked for once more.
 */
export async function recordLostWords(
  deps: Deps,
  { cardId, repositoryId, ref }: KnownBranch,
  repository: ForgeRepository,
  { number, comments, isAllComments }: InspectedWords,
  { askedAt, quietSince }: { readonly askedAt: string; readonly quietSince: string },
): Promise<void> {
  const shown = comments.map(({ commentId }) => commentId);
  const unshown = await listUnshown(deps.db, cardId, repositoryId, {
    number,
    shown,
    from: isAllComments ? 0 : Math.min(...shown),
    quietSince,
  });
  for (const { commentId, isMirror } of unshown) {
    if (await deps.forge.hasComment(ref, commentId)) continue;
    const event: Commented = {
      type: "commented",
      action: "deleted",
      installationId: ref.installationId,
      repository,
      isFound: true,
      number,
      commentId,
      author: isMirror ? await ourselves(deps) : null,
      sender: null,
      body: "",
      writtenAt: null,
      at: askedAt,
    };
    deps.log.info({ cardId, commentId, type: event.type }, "found a deletion that nobody told of");
    await recordEvent(deps, event);
  }
}

async function ourselves({ forge }: Deps): Promise<ForgeAccount> {
  const { botId: forgeId, botLogin: login } = await forge.identity();
  return { forgeId, login, avatarUrl: null, isBot: true };
}
