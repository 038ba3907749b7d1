import { listLinks } from "../../store/cards/links.ts";
import { readClock } from "../../store/forge/installations.ts";
import type { Deps } from "../deps.ts";
import { handleEvent } from "../events/handle-event.ts";

/**
 * Reads the checks of a card from GitHub, after webhooks have reported runs of one name in several
 * suites: only GitHub shows whether they are runs of one workflow, of which the newest counts.
 */
export async function compareChecks(deps: Deps, cardId: string): Promise<void> {
  const askedAt = await readClock(deps.db);
  const asked = (await listLinks(deps.db, cardId)).flatMap(({ repository: { forgeRef }, branchName }) =>
    forgeRef && branchName !== null ? [{ repository: forgeRef, branchName, targetBranch: null }] : [],
  );
  const inspections = await deps.forge.inspect(asked, { maxPullRequests: 5, isPartial: true });
  for (const [at, { repository: forgeRef }] of asked.entries()) {
    const shown = inspections[at];
    if (!shown || shown.refusal) continue;
    const { headSha, pullRequests, repository } = shown;
    const open = pullRequests.find((pull) => pull.state === "open" && pull.headSha === headSha);
    if (!open || open.checks.hidden) continue;
    await handleEvent(deps, {
      type: "checks_found",
      installationId: forgeRef.installationId,
      repository,
      isFromComparison: true,
      sender: null,
      at: null,
      sha: open.headSha,
      reports: open.reports,
      askedAt,
    });
  }
}
