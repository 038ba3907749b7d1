import { isLinkUsable } from "../store/cards/links.ts";
import type { Deps } from "./deps.ts";

/**
 * The dependencies with a forge that refuses writes once a card may not use a repository any more. A
 * write may wait for its turn for many seconds, and the repository may move to another board meanwhile.
 */
export const depsGuardedByLink = (deps: Deps, cardId: string, repositoryId: string): Deps => ({
  ...deps,
  forge: deps.forge.with({ mayWrite: () => isLinkUsable(deps.db, cardId, repositoryId) }),
});
