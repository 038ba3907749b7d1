import { isLinkUsable } from "../store/cards/links.ts";
import type { Deps } from "./deps.ts";

/**
 * The dependencies with a forge that writes only while a card may use a repository. A write may wait
 * for its turn for many seconds, and the repository may get another board meanwhile.
 */
export const forgeWhileLinked = (deps: Deps, cardId: string, repositoryId: string): Deps => ({
  ...deps,
  forge: deps.forge.withWriteGuard(() => isLinkUsable(deps.db, cardId, repositoryId)),
});
