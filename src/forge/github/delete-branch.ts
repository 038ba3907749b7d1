import type { Ordered, RepositoryRef } from "../forge.ts";
import type { CarryOut } from "./carry-out.ts";
import { type Caller, shaped } from "./client.ts";
import { z } from "zod";
import type { BranchTip } from "../releasing.ts";
import { TEMPORARY_BRANCHES } from "../releasing.ts";
import { readRefState } from "./read-ref.ts";
import { REPOSITORY, succeeded } from "./repositories.ts";
import { NO_COMMIT, updateRefs } from "./update-refs.ts";

type Deletion = Ordered<{ readonly deleted: boolean } | { readonly moved: string }>;

/** Deletes a branch, but only from the commit it is expected at. */
export async function deleteBranch(
  caller: Caller,
  carryOut: CarryOut,
  repository: RepositoryRef,
  branchName: string,
  expectedSha: string,
): Promise<Deletion> {
  const name = `refs/heads/${branchName}`;
  /** Null while the branch is where it was. */
  const look = async (deleted: boolean): Promise<Deletion | { repositoryId: string }> => {
    const found = await readRefState(caller, repository, name);
    if (!found.ok) return found;
    const { sha, repositoryId } = found.value;
    if (sha === null) return { ok: true, value: { deleted } };
    return sha === expectedSha ? { repositoryId } : { ok: true, value: { moved: sha } };
  };
  const settled = async (): Promise<Deletion | null> => {
    const now = await look(true);
    return "ok" in now ? now : null;
  };
  const before = await look(false);
  if ("ok" in before) return before;
  return await carryOut<Deletion>(async () => {
    const update = { name, beforeOid: expectedSha, afterOid: NO_COMMIT };
    const refusal = await updateRefs(caller, before.repositoryId, [update]);
    if (refusal === null) return { ok: true, value: { deleted: true } };
    return (await settled()) ?? { ok: false, refusal };
  }, settled);
}

const refsShape = z.array(z.looseObject({ ref: z.string(), object: z.looseObject({ sha: z.string() }) }));

/** The branches that only ever live for the time of an order. */
export async function readTemporaryBranches(caller: Caller, repository: RepositoryRef): Promise<BranchTip[]> {
  const prefix = `refs/heads/${TEMPORARY_BRANCHES}`;
  const answer = await caller.read(`GET ${REPOSITORY}/git/matching-refs/{ref}`, {
    repository_id: repository.forgeId,
    ref: prefix.slice("refs/".length),
  });
  if (answer.status === 404 || answer.status === 409) return [];
  return shaped(refsShape, succeeded(answer))
    .filter(({ ref }) => ref.startsWith(prefix))
    .map(({ ref, object }) => ({ branchName: ref.slice("refs/heads/".length), sha: object.sha }));
}
