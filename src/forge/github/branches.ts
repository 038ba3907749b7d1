import { z } from "zod";
import type { Ordered, RepositoryRef } from "../forge.ts";
import { type Caller, shaped } from "./client.ts";
import { UnknownOutcome } from "./failures.ts";
import { allWordsOf } from "./forge-words.ts";
import { refusalOf } from "./refusals.ts";
import { REPOSITORY, succeeded } from "./repositories.ts";
import type { CarryOut } from "./carry-out.ts";

const refShape = z.looseObject({ ref: z.string(), object: z.looseObject({ sha: z.string() }) });

export type BranchOrder = Ordered<{ readonly created: boolean } | { readonly taken: string }>;

/** The commit a branch points at; null where there is no such branch, an empty repository included. */
export async function readBranchHead(
  caller: Caller,
  repository: RepositoryRef,
  branchName: string,
): Promise<string | null> {
  const answer = await caller.read(`GET ${REPOSITORY}/git/ref/heads/{branch}`, {
    repository_id: repository.forgeId,
    branch: branchName,
  });
  if (answer.status === 404 || answer.status === 409) return null;
  const { ref, object } = shaped(refShape, succeeded(answer));
  return ref === `refs/heads/${branchName}` ? object.sha : null;
}

/** Creates a branch; one that exists is reported, never moved. */
export async function createBranch(
  caller: Caller,
  carryOut: CarryOut,
  repository: RepositoryRef,
  branchName: string,
  sha: string,
): Promise<BranchOrder> {
  const find = async (): Promise<BranchOrder | null> => {
    const head = await readBranchHead(caller, repository, branchName);
    if (head === null) return null;
    return { ok: true, value: head === sha ? { created: false } : { taken: head } };
  };
  return await carryOut(async () => {
    const ref = `refs/heads/${branchName}`;
    const parameters = { repository_id: repository.forgeId, ref, sha };
    const answer = await caller.write(`POST ${REPOSITORY}/git/refs`, parameters);
    if (answer.status === 422 && /reference already exists/i.test(allWordsOf(answer.body))) {
      const found = await find();
      // A read may lag behind a write: what is there cannot be told yet.
      if (found === null) throw new UnknownOutcome("GitHub has the branch, but does not show it yet");
      return found;
    }
    if (answer.status >= 300) return { ok: false, refusal: refusalOf(answer.status, answer.body) };
    const made = shaped(refShape, answer);
    if (made.object.sha === sha) return { ok: true, value: { created: true } };
    return { ok: true, value: { taken: made.object.sha } };
  }, find);
}
