import type { FormerBranch } from "../../test/support/invariants.ts";
import { RENAME_TRUNK, RESET_TRUNK, type RewrittenTrunk } from "../actors/ref-actions.ts";
import type { Subject } from "./subject.ts";

/** What the trunks were before people renamed or reset them. */
export function formerTrunks({
  events,
}: Subject["history"]): (forgeId: number, branchName: string) => FormerBranch {
  const rewritten = events
    .filter(({ name }) => name === RESET_TRUNK || name === RENAME_TRUNK)
    .map(({ detail }) => detail as RewrittenTrunk)
    .filter(({ status }) => status < 300);
  return (forgeId, branchName) => {
    const own = rewritten.filter((each) => each.forgeId === forgeId);
    const names = own.flatMap((each) => each.names);
    const isTrunk = names.includes(branchName);
    return isTrunk ? { names, tips: own.flatMap(({ tips }) => tips) } : { names: [], tips: [] };
  };
}
