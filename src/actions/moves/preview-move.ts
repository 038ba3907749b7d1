import { isGateReason } from "../../flow/gates.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import { stageOf } from "../../flow/flow.ts";
import { needsGit, roleToEnter, type MovePlan, type MoveStep } from "../../flow/move.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import { countLinks } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import { noSuchStage } from "../boards/flow.ts";
import { forgeAbout } from "../cards/live-reads.ts";
import type { Deps } from "../deps.ts";
import { checkGates, type Mover } from "./check-gates.ts";
import type { Transition } from "./start-move.ts";
import { inspectCard, inspectEarlierStages, type InspectDeps, type Inspection } from "./inspect-card.ts";
import { readReadiness } from "./read-readiness.ts";

/** `unknown` while GitHub computes mergeability, or if the move must write before that is known. */
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
  /** What a move with `whenReady` would do. */
  readonly whenReady: {
    readonly wouldArm: boolean;
    /** `likely` if it would wait: the target may change, and GitHub decides at the merge. */
    readonly certainty: "certain" | "likely";
    readonly waitingFor: readonly BlockedReason[];
  };
}

const ARMS_NOTHING: Preview["whenReady"] = { wouldArm: false, certainty: "certain", waitingFor: [] };

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
  if (!project || !stage) throw noSuchStage("card", "query.statusId");
  const requiredRole = roleToEnter(stage);
  const roles = { requiredRole, heldRole };
  const preview = await previewEntry(
    { db: deps.db, forge: await forgeAbout(deps, card) },
    { card, project, stage, mover },
  );
  return mayAct(heldRole, requiredRole)
    ? { ...preview, ...roles }
    : { ...preview, wouldMove: false, certainty: "certain", whenReady: ARMS_NOTHING, ...roles };
}

async function previewEntry(
  deps: InspectDeps,
  transition: Transition & { readonly mover: Mover },
): Promise<Preview> {
  const { card, stage, mover } = transition;
  const reasons = await checkGates(deps.db, transition, mover);
  const withoutGit = { certainty: "certain", steps: [], whenReady: ARMS_NOTHING } as const;
  if (reasons.length > 0) return { ...withoutGit, wouldMove: false, reasons };
  if (!needsGit(card.stageId, stage, await countLinks(deps.db, card.id)))
    return { ...withoutGit, wouldMove: true, reasons: [] };
  const inspection = await inspectCard(deps, { ...transition, mayWait: stage.rule.type === "merge" });
  const readiness = await readReadiness(deps.db, transition, inspection, null);
  return {
    ...(await previewGit(deps, transition, inspection)),
    whenReady:
      readiness.state === "waiting"
        ? { wouldArm: true, certainty: "likely", waitingFor: readiness.waitingFor }
        : ARMS_NOTHING,
  };
}

type MovePreview = Omit<Preview, "whenReady">;

async function previewGit(
  deps: InspectDeps,
  transition: Transition,
  inspection: Inspection,
): Promise<MovePreview> {
  const { reasons } = inspection.plan;
  if (reasons.length === 0) return previewOf(transition, inspection.plan);
  if (reasons.some(isGateReason)) return { wouldMove: false, certainty: "certain", steps: [], reasons };
  const earlier = await inspectEarlierStages(deps, transition, inspection);
  const steps = (earlier?.plan.steps ?? []).map(toPreviewed);
  return { wouldMove: false, certainty: "certain", steps, reasons };
}

function previewOf(transition: Transition, plan: MovePlan): MovePreview {
  const steps = stepsOf(transition, plan);
  if (plan.likelyRefusals.length > 0) {
    // A move with several merges is refused for a likely refusal. With a single merge, GitHub
    // decides.
    const refusesItself = steps.filter(({ action }) => action === "merge").length > 1;
    const certainty = refusesItself ? "certain" : "likely";
    return { wouldMove: false, certainty, steps: refusesItself ? [] : steps, reasons: plan.likelyRefusals };
  }
  if (plan.isUndecided || plan.isForgeLagging || plan.needsReplan) {
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
