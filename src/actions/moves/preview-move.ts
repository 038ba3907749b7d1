import { isGateReason } from "../../flow/gates.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import { stageOf } from "../../flow/flow.ts";
import { needsGit, roleToEnter, type MovePlan, type MoveStep } from "../../flow/move.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import { countLinks } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import type { Deps } from "../deps.ts";
import { checkEntry, type Mover } from "./check-gates.ts";
import type { Transition } from "./start-move.ts";
import { inspectCard, inspectEarlierStages } from "./inspect-card.ts";
import { noSuchStage } from "./move-card.ts";

/** `unknown` while GitHub computes mergeability, or if the move must write before it can tell. */
export const CERTAINTIES = ["certain", "likely", "unknown"] as const;

export const STEP_ACTIONS = [
  "create_branch",
  "restore_branch",
  "open_pull_request",
  "mark_ready",
  "merge",
] as const satisfies readonly MoveStep["action"][];

interface PreviewedStep extends Pick<MoveStep, "action" | "fullName" | "branchName" | "targetBranch"> {
  /** Null if the pull request has to be opened first. */
  readonly prNumber: number | null;
}

/** What a move would do on GitHub, and whether it would succeed. */
interface Preview {
  readonly wouldMove: boolean;
  readonly certainty: (typeof CERTAINTIES)[number];
  readonly steps: readonly PreviewedStep[];
  readonly reasons: readonly BlockedReason[];
}

/**
 * Previews a move with the same inspection and planner as the move itself, and changes nothing.
 * Throws `invalid` for a stage that the card's flow does not have, and `ForgeUnavailable` when
 * GitHub cannot be reached.
 */
export async function previewMove(
  deps: Deps,
  card: CardHead,
  { heldRole, ...mover }: Mover & { readonly heldRole: Role },
  statusId: string,
): Promise<Preview & { readonly requiredRole: Role; readonly heldRole: Role }> {
  const project = await findProject(deps.db, card.workspaceId, card.projectId);
  const stage = project && stageOf(project.flow, statusId);
  if (!project || !stage) throw noSuchStage("query.statusId");
  const requiredRole = roleToEnter(stage);
  const roles = { requiredRole, heldRole };
  const preview = await previewEntry(deps, { card, project, stage, mover });
  return mayAct(heldRole, requiredRole)
    ? { ...preview, ...roles }
    : { ...preview, wouldMove: false, certainty: "certain", ...roles };
}

async function previewEntry(
  deps: Deps,
  transition: Transition & { readonly mover: Mover },
): Promise<Preview> {
  const { card, stage, mover } = transition;
  const reasons = await checkEntry(deps.db, transition, mover);
  if (reasons.length > 0) return { wouldMove: false, certainty: "certain", steps: [], reasons };
  if (needsGit(card.stageId, stage, await countLinks(deps.db, card.id))) return previewGit(deps, transition);
  return { wouldMove: true, certainty: "certain", steps: [], reasons: [] };
}

async function previewGit(deps: Deps, transition: Transition): Promise<Preview> {
  const inspection = await inspectCard(deps, transition);
  const { reasons } = inspection.plan;
  if (reasons.length === 0) return previewOf(transition, inspection.plan);
  if (reasons.some(isGateReason)) return { wouldMove: false, certainty: "certain", steps: [], reasons };
  const earlier = await inspectEarlierStages(deps, transition, inspection);
  const steps = (earlier?.plan.steps ?? []).map(toPreviewed);
  return { wouldMove: false, certainty: "certain", steps, reasons };
}

function previewOf(transition: Transition, plan: MovePlan): Preview {
  const steps = stepsOf(transition, plan);
  if (plan.likelyRefusals.length > 0) {
    // Several repositories: the move refuses a doubt itself. A single one: GitHub decides.
    const isOurRule = steps.filter(({ action }) => action === "merge").length > 1;
    const certainty = isOurRule ? "certain" : "likely";
    return { wouldMove: false, certainty, steps: isOurRule ? [] : steps, reasons: plan.likelyRefusals };
  }
  if (plan.isUndecided || plan.isBehindWebhooks || plan.needsReplan) {
    return { wouldMove: true, certainty: "unknown", steps, reasons: [] };
  }
  return { wouldMove: true, certainty: steps.length === 0 ? "certain" : "likely", steps, reasons: [] };
}

/** The steps of a plan, and those the planner adds after the next inspection. */
function stepsOf({ stage }: Transition, plan: MovePlan): PreviewedStep[] {
  const steps = plan.steps.map(toPreviewed);
  if (stage.rule.type !== "merge") return steps;
  const following = (action: MoveStep["action"], next: MoveStep["action"]): PreviewedStep[] =>
    steps.filter((step) => step.action === action).map((step) => ({ ...step, action: next }));
  return [
    ...steps,
    ...following("restore_branch", "open_pull_request"),
    ...following("restore_branch", "merge"),
    ...following("open_pull_request", "merge"),
  ];
}

const toPreviewed = (step: MoveStep): PreviewedStep => ({
  action: step.action,
  fullName: step.fullName,
  branchName: step.branchName,
  targetBranch: step.targetBranch,
  prNumber: "prNumber" in step ? step.prNumber : null,
});
