import { isRefusal, type BlockedReason } from "../../flow/refusal.ts";
import type { Deps } from "../deps.ts";
import type { Inspection } from "./inspect-card.ts";

/** Adds to each conflict the files changed on both sides, as far as GitHub reports them. */
export const addConflictingFiles = (
  deps: Deps,
  inspection: Inspection,
  reasons: readonly BlockedReason[],
): Promise<BlockedReason[]> =>
  Promise.all(
    reasons.map(async (reason) =>
      reason.reason === "conflicts"
        ? {
            ...reason,
            details: { ...reason.details, ...(await filesIn(deps, inspection, reason.repository)) },
          }
        : reason,
    ),
  );

async function filesIn(
  deps: Deps,
  { links, question }: Inspection,
  fullName: string,
): Promise<{ files?: readonly string[] }> {
  const forgeRef = links.find(({ repository }) => repository.fullName === fullName)?.repository.forgeRef;
  const facts = question.repositories.find((repository) => repository.fullName === fullName)?.facts;
  if (!forgeRef || !facts || isRefusal(facts) || facts.headSha === null) return {};
  const files = await deps.forge.changedOnBothSides(forgeRef, facts.target.name, facts.headSha);
  return files.length === 0 ? {} : { files };
}
