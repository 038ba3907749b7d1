import type { RepositoryRef } from "../forge.ts";
import type { PickOrder, Releasing } from "../releasing.ts";
import type { CarryOut } from "./carry-out.ts";
import { dropPick, landPick, preparePick } from "./cherry-pick.ts";
import type { GitHubClient } from "./client.ts";
import { readContains } from "./contains.ts";
import { createTags } from "./create-tags.ts";
import { deleteBranch, readTemporaryBranches } from "./delete-branch.ts";
import { readLandedCommits } from "./landed-history.ts";
import { lookBeforeTagging } from "./look-before-tagging.ts";
import { moveBranch } from "./move-branch.ts";
import { permitted, reachable } from "./permitted.ts";
import { createTag, publishRelease, tagTip } from "./tags.ts";

const PICK_WITHIN_MS = 25_000;
/** Each further commit is a write of its own, and GitHub wants a second between two. */
const PICK_WITHIN_MS_PER_COMMIT = 2_000;

export function createReleasing(client: GitHubClient, carryOut: CarryOut): Releasing {
  const pick = (repository: RepositoryRef, order: PickOrder) => ({
    callerFor: (commits: number) =>
      client.as(repository.installationId, PICK_WITHIN_MS + (commits - 1) * PICK_WITHIN_MS_PER_COMMIT),
    carryOut,
    repository,
    order,
  });
  return {
    contains: (repository, branchName, sha) =>
      reachable(() => readContains(client.as(repository.installationId), repository, branchName, sha)),
    landedCommits: (repository, question) =>
      reachable(() => readLandedCommits(client.as(repository.installationId), repository, question)),
    lookBeforeTagging: (questions) => lookBeforeTagging(client, questions),
    temporaryBranches: (repository) =>
      reachable(() => readTemporaryBranches(client.as(repository.installationId), repository)),
    deleteBranch: (repository, branchName, sha) =>
      permitted(() =>
        deleteBranch(client.as(repository.installationId), carryOut, repository, branchName, sha),
      ),
    preparePick: (repository, order) => permitted(() => preparePick(pick(repository, order))),
    landPick: (repository, order, prepared) => permitted(() => landPick(pick(repository, order), prepared)),
    dropPick: async (repository, order, prepared) => {
      const drop = async () =>
        ({ ok: true, value: await dropPick(pick(repository, order), prepared) }) as const;
      const dropped = await permitted(drop);
      return dropped.ok && dropped.value;
    },
    moveBranch: (repository, branchName, from, to) =>
      permitted(() =>
        moveBranch(client.as(repository.installationId), carryOut, repository, { branchName, from, to }),
      ),
    tagTip: (repository, tag) => tagTip(client.as(repository.installationId), carryOut, repository, tag),
    createTags: async (tags) => {
      const [first] = tags;
      return first ? createTags(client.as(first.repository.installationId), tags) : [];
    },
    createTag: (repository, tagName, sha) =>
      permitted(() => createTag(client.as(repository.installationId), carryOut, repository, tagName, sha)),
    publishRelease: (repository, notes) =>
      permitted(() => publishRelease(client.as(repository.installationId), carryOut, repository, notes)),
  };
}
