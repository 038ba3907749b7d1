import { listLinks } from "../../store/cards/links.ts";
import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";
import type { Deps } from "../deps.ts";
import { depsGuardedByLink } from "../deps-guarded-by-link.ts";

export const CLOSE_PULL_REQUESTS = "close-pull-requests";

/** Schedules the job that closes the open pull requests of a card that is being deleted. */
export const closePullRequestsSoon = (db: Db, cardId: string): Promise<void> =>
  addJob(db, CLOSE_PULL_REQUESTS, { cardId }, { about: { cardId }, key: `${CLOSE_PULL_REQUESTS}:${cardId}` });

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
