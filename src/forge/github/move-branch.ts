import type { Ordered, RepositoryRef } from "../forge.ts";
import type { BranchMoved } from "../releasing.ts";
import type { CarryOut } from "./carry-out.ts";
import type { Caller } from "./client.ts";
import { readRefState } from "./read-ref.ts";
import { updateRefs } from "./update-refs.ts";

type Move = Ordered<{ readonly state: "there" } | BranchMoved>;

/** Moves a branch, back as well, but only from the commit it is expected at. */
export async function moveBranch(
  caller: Caller,
  carryOut: CarryOut,
  repository: RepositoryRef,
  { branchName, from, to }: { readonly branchName: string; readonly from: string; readonly to: string },
): Promise<Move> {
  const name = `refs/heads/${branchName}`;
  const look = async (): Promise<Move | { repositoryId: string }> => {
    const found = await readRefState(caller, repository, name);
    if (!found.ok) return found;
    const { sha, repositoryId } = found.value;
    if (sha === to) return { ok: true, value: { state: "there" } };
    return sha === from ? { repositoryId } : { ok: true, value: { state: "moved", sha } };
  };
  const settled = async (): Promise<Move | null> => {
    const now = await look();
    return "ok" in now ? now : null;
  };
  const before = await look();
  if ("ok" in before) return before;
  return await carryOut<Move>(async () => {
    const update = { name, beforeOid: from, afterOid: to, force: true };
    const refusal = await updateRefs(caller, before.repositoryId, [update]);
    if (refusal === null) return { ok: true, value: { state: "there" } };
    return (await settled()) ?? { ok: false, refusal };
  }, settled);
}
