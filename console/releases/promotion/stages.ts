import type { Flow, ReleaseDetails } from "../../api/schema.d.ts";
import { hasRole, type Role } from "../../api/session.ts";
import { skippedMerges } from "../../board/moves/skipped-merges.ts";

export type Stage = Flow["stages"][number];

/** The places in the flow that the cards of the release have. */
const placesOf = ({ cards }: ReleaseDetails, { stages }: Flow): number[] =>
  cards.map(({ statusId }) => stages.findIndex(({ id }) => id === statusId));

/** The stages that at least one card of the release has before it. */
export const laterStages = (release: ReleaseDetails, flow: Flow): readonly Stage[] =>
  flow.stages.slice(Math.max(0, Math.min(...placesOf(release, flow))) + 1);

/** The first stage after those of all cards, if the user may move cards there. */
export function nextStage(release: ReleaseDetails, flow: Flow, role: Role): Stage | undefined {
  const next = flow.stages[Math.max(0, ...placesOf(release, flow)) + 1];
  return next && hasRole(role, next.minRole) ? next : undefined;
}

/** Why no card of the release can be promoted; null if one can. */
export function whyNotPromoted(release: ReleaseDetails, flow: Flow): string | null {
  if (release.cards.length === 0) return "The release is empty, so there is nothing to promote.";
  return laterStages(release, flow).length === 0
    ? "All cards are in the last stage, so there is nothing to promote."
    : null;
}

/** Whether a promotion moves a card forward. Before a stage is chosen, it may move any card. */
export function isBefore(
  { statusId }: ReleaseDetails["cards"][number],
  { stages }: Flow,
  stageId: string,
): boolean {
  const target = stages.findIndex(({ id }) => id === stageId);
  return target === -1 || stages.findIndex(({ id }) => id === statusId) < target;
}

/** Says which of the chosen cards would skip stages that merge. */
export function skippedBy(
  { cards }: ReleaseDetails,
  { stages }: Flow,
  stageId: string,
  chosen: readonly number[],
): readonly string[] {
  const numbers = new Map<string, number[]>();
  for (const { number, statusId } of cards) {
    if (!chosen.includes(number) || statusId === null) continue;
    for (const text of skippedMerges(stages, statusId, stageId))
      numbers.set(text, [...(numbers.get(text) ?? []), number]);
  }
  return [...numbers].map(([text, of]) => `${of.map((number) => `#${number}`).join(", ")}: ${text}`);
}
