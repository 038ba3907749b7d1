import { listLinks } from "../../store/cards/links.ts";
import type { Deps } from "../deps.ts";
import { depsGuardedByLink } from "../deps-guarded-by-link.ts";

/** Closes the open pull requests of a card. Throws `ForgeUnavailable`. */
export async function closePullRequests(deps: Deps, cardId: string): Promise<void> {
  for (const { repository, pullRequests } of await listLinks(deps.db, cardId)) {
    const { id: repositoryId, forgeRef, fullName } = repository;
    if (!forgeRef) continue;
    const { forge } = depsGuardedByLink(deps, cardId, repositoryId);
    for (const { number } of pullRequests.filter(({ state }) => state === "draft" || state === "open")) {
      const closed = await forge.closePullRequest(forgeRef, number);
      if (closed.ok) continue;
      const { reason, message } = closed.refusal;
      deps.log.warn(
        { cardId, repository: fullName, number, reason, message },
        "a pull request was not closed",
      );
    }
  }
}
