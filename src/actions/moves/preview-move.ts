import { decide, finalOf, type Decision, type FollowingStep } from "../../flow/decide.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import { stageOf } from "../../flow/flow.ts";
import { needsGit, roleToEnter, type MergeWarning, type MoveStep } from "../../flow/move.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import { countLinks } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import { noSuchStage } from "./may-enter.ts";
import { readsAbout } from "../live-reads.ts";
import type { Deps } from "../deps.ts";
import { checkGates, type Mover } from "./check-gates.ts";
import type { Transition } from "./start-move.ts";
import { inspectForPreview, type InspectDeps } from "./inspect-card.ts";

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
  readonly warnings: readonly MergeWarning[];
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
 * Previews a move with the same inspection and decision as the move itself, and changes nothing.
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
    { db: deps.db, forge: deps.forge, share: await readsAbout(deps, card) },
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
  const withoutGit = { certainty: "certain", steps: [], warnings: [], whenReady: ARMS_NOTHING } as const;
  if (reasons.length > 0) return { ...withoutGit, wouldMove: false, reasons };
  if (!needsGit(card.stageId, stage, await countLinks(deps.db, card.id)))
    return { ...withoutGit, wouldMove: true, reasons: [] };
  const waiting =
    stage.rule.type === "merge" ? ({ armedWith: null, onFailingChecks: "disarm" } as const) : undefined;
  const { question, decision } = await inspectForPreview(deps, { ...transition, waiting });
  return { ...previewOf(decide({ ...question, waiting: null })), whenReady: previewWaiting(decision) };
}

const previewWaiting = (decision: Decision): Preview["whenReady"] => {
  const final = finalOf(decision);
  return final.state === "wait"
    ? { wouldArm: true, certainty: "likely", waitingFor: final.waitingFor }
    : ARMS_NOTHING;
};

/** What a decision about a move that does not wait means before the move. */
export function previewOf(decision: Decision): Omit<Preview, "whenReady"> {
  const final = finalOf(decision);
  if (final.state === "wait" || final.state === "disarm") throw new Error("a move that does not wait");
  const steps = [...final.steps, ...("following" in final ? final.following : [])].map(toPreviewed);
  const { warnings } = final;
  if (final.state === "refuse")
    return { wouldMove: false, certainty: "certain", steps, reasons: final.reasons, warnings };
  if (final.doubts.length > 0)
    return { wouldMove: false, certainty: "likely", steps, reasons: final.doubts, warnings };
  const isUnknown = decision.state === "read_again" || final.isDecidedAgain;
  const certainty = isUnknown ? "unknown" : steps.length === 0 ? "certain" : "likely";
  return { wouldMove: true, certainty, steps, reasons: [], warnings };
}

const toPreviewed = (step: MoveStep | FollowingStep): PreviewedStep => ({
  action: step.action,
  fullName: step.fullName,
  branchName: step.branchName,
  targetBranch: step.targetBranch,
  prNumber: "prNumber" in step ? step.prNumber : null,
});
