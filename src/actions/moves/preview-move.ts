import { invalid } from "../../errors.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import { stageOf } from "../../flow/flow.ts";
import { needsGit, roleToEnter, type MovePlan, type MoveStep } from "../../flow/move.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import { countLinks } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import type { Deps } from "../deps.ts";
import { lookAtCard, lookOnTheWay } from "./look-at-card.ts";
import { type Transition } from "./transition.ts";

/** How much an answer can be relied on: `unknown` where the forge has not made up its mind or must be asked to write first. */
export const CERTAINTIES = ["certain", "likely", "unknown"] as const;
export type Certainty = (typeof CERTAINTIES)[number];

export const STEP_ACTIONS = [
  "create_branch",
  "restore_branch",
  "open_pull_request",
  "mark_ready",
  "merge",
] as const satisfies readonly MoveStep["action"][];

export interface PreviewedStep {
  readonly action: MoveStep["action"];
  readonly fullName: string;
  readonly branchName: string;
  readonly targetBranch: string;
  /** Null while the pull request is still to be opened. */
  readonly prNumber: number | null;
}

/** What a move would do and whether it would get through, as far as can be told without trying. */
export interface MovePreview {
  readonly wouldMove: boolean;
  readonly certainty: Certainty;
  readonly steps: readonly PreviewedStep[];
  readonly reasons: readonly BlockedReason[];
  readonly requiredRole: Role;
  readonly heldRole: Role;
}

/**
 * Says what moving a card into a stage would do, from the same look and the same planner as the move, and changes nothing anywhere.
 * Throws `invalid` for a stage that is not of the card's flow, `ForgeUnavailable` when the forge cannot be asked.
 */
export async function previewMove(
  deps: Deps,
  card: CardHead,
  heldRole: Role,
  statusId: string,
): Promise<MovePreview> {
  const project = await findProject(deps.db, card.workspaceId, card.projectId);
  const stage = project && stageOf(project.flow, statusId);
  if (!project || !stage) {
    throw invalid("This card's flow has no stage with this id. GET /v1/board lists the stages.", [
      { path: "query.statusId", message: "not a stage of this card's flow" },
    ]);
  }
  const transition: Transition = { card, project, stage };
  const requiredRole = roleToEnter(stage);
  const roles = { requiredRole, heldRole };
  const told = needsGit(card.stageId, stage, await countLinks(deps.db, card.id))
    ? await foretell(deps, transition)
    : { wouldMove: true, certainty: "certain" as const, steps: [], reasons: [] };
  return mayAct(heldRole, requiredRole)
    ? { ...told, ...roles }
    : { ...told, wouldMove: false, certainty: "certain", ...roles };
}

type Foretold = Omit<MovePreview, "requiredRole" | "heldRole">;

async function foretell(deps: Deps, transition: Transition): Promise<Foretold> {
  const look = await lookAtCard(deps, transition);
  const { reasons } = look.plan;
  if (reasons.length === 0) return foretold(transition, look.plan);
  const earlier = await lookOnTheWay(deps, transition, look);
  const steps = (earlier?.plan.steps ?? []).map(toPreviewed);
  return { wouldMove: false, certainty: "certain", steps, reasons };
}

function foretold(transition: Transition, plan: MovePlan): Foretold {
  const steps = stepsOf(transition, plan);
  if (plan.doubts.length > 0) {
    // With several repositories a doubt refuses the move by itself; with one the forge has the last word.
    const isOurRule = steps.filter(({ action }) => action === "merge").length > 1;
    const certainty = isOurRule ? "certain" : "likely";
    return { wouldMove: false, certainty, steps: isOurRule ? [] : steps, reasons: plan.doubts };
  }
  if (plan.isUndecided || plan.isBehind || plan.needsAnotherLook) {
    return { wouldMove: true, certainty: "unknown", steps, reasons: [] };
  }
  return { wouldMove: true, certainty: steps.length === 0 ? "certain" : "likely", steps, reasons: [] };
}

/** What has to be made first is followed by what it is made for: the planner only says so once it is there. */
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
