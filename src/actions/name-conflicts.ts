import type { BlockedReason } from "../flow/blocked.ts";
import type { Deps } from "./deps.ts";
import type { Look } from "./look-at-card.ts";

/** Adds to the details of each conflict the files changed on both sides, as far as the forge tells. */
export const nameConflicts = (
  deps: Deps,
  look: Look,
  reasons: readonly BlockedReason[],
): Promise<BlockedReason[]> =>
  Promise.all(
    reasons.map(async (reason) =>
      reason.reason === "conflicts"
        ? { ...reason, details: { ...reason.details, ...(await filesIn(deps, look, reason.repository)) } }
        : reason,
    ),
  );

async function filesIn(
  deps: Deps,
  { links, repositories }: Look,
  fullName: string,
): Promise<{ files?: readonly string[] }> {
  const ref = links.find(({ repository }) => repository.fullName === fullName)?.repository.ref;
  const facts = repositories.find((repository) => repository.fullName === fullName)?.facts;
  if (!ref || !facts || "reason" in facts || facts.headSha === null) return {};
  const files = await deps.forge.changedOnBothSides(ref, facts.target.name, facts.headSha);
  return files.length === 0 ? {} : { files };
}
