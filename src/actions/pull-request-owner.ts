import type { PullRequestEvent } from "../forge/events.ts";
import type { Db } from "../store/db/connect.ts";
import { findBranchOwner } from "../store/forge/branches.ts";
import { findPullRequestOwner } from "../store/forge/pull-requests.ts";
import type { Repository } from "../store/forge/repositories.ts";

type OfPullRequest = Pick<PullRequestEvent, "number" | "headBranch" | "headRepositoryId" | "repository">;

/** A pull request is a card's when it was recorded as such, or comes from the card's branch in the very same repository. */
export async function pullRequestOwner(
  db: Db,
  repository: Repository,
  event: OfPullRequest,
): Promise<string | null> {
  const owner = await findPullRequestOwner(db, repository.id, event.number);
  if (owner) return owner;
  if (event.headRepositoryId !== event.repository.forgeId) return null;
  return findBranchOwner(db, repository.id, event.headBranch);
}
