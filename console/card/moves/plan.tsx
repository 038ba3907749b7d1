import type { Flow, MovePlan, MovePlanStep } from "../../api/schema.d.ts";
import { stepText } from "../../board/moves/plan.ts";
import { Icon } from "../../components/icon.tsx";
import { targetName } from "../../text/rule.ts";
import { adviceOn } from "./advice.ts";

export type Stage = Flow["stages"][number];

interface Props {
  readonly plan: MovePlan;
  readonly stage: Stage;
  readonly hasBranch: boolean;
  /** What else the move does or leaves out. */
  readonly notes: readonly string[];
  /** The id of the sentence that says whether the card would move. */
  readonly verdictId: string;
}

/** What a move would do on GitHub, how sure that is, and what blocks it. */
export function Plan({ plan, stage, hasBranch, notes, verdictId }: Props) {
  const { steps, reasons, warnings, wouldMove } = plan;
  return (
    <div className="plan">
      {steps.length > 0 && (
        <ul className="plan-steps">
          {steps.map((step) => (
            <li key={`${step.fullName} ${step.action}`}>
              <Icon name={ICONS[step.action]} />
              <span>
                <span className="plan-step">{stepText(step)}</span>
                <span className="plan-place mono">{step.fullName}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {notes.map((each) => (
        <p className="plan-advice" key={each}>
          {each}
        </p>
      ))}
      {warnings.map(({ repository, message }) => (
        <p className="plan-advice" key={`${repository} ${message}`} dir="auto">
          {repository}: {message}
        </p>
      ))}
      <p id={verdictId} className="plan-certainty" data-against={!wouldMove || undefined}>
        {certaintyOf(plan, stage, hasBranch)}
      </p>
      {reasons.length > 0 && (
        <>
          <ul className="plan-reasons">
            {reasons.map(({ reason, message, repository }) => (
              <li key={`${repository} ${reason} ${message}`} dir="auto">
                {message}
              </li>
            ))}
          </ul>
          {adviceOn(reasons).map((advice) => (
            <p className="plan-advice" key={advice}>
              {advice}
            </p>
          ))}
        </>
      )}
    </div>
  );
}

const ICONS = {
  create_branch: "branch",
  restore_branch: "branch",
  open_pull_request: "pull",
  mark_ready: "eye",
  merge: "merge",
} as const satisfies Record<MovePlanStep["action"], string>;

function certaintyOf(
  { wouldMove, certainty, requiredRole, heldRole, reasons, steps }: MovePlan,
  { rule }: Stage,
  hasBranch: boolean,
): string {
  if (!wouldMove) {
    return reasons.length > 0
      ? "The move would be refused:"
      : `The stage needs the role ${requiredRole}. Your role is ${heldRole}.`;
  }
  if (steps.length === 0 && rule.type === "merge" && hasBranch)
    return `Nothing is left to merge: ${targetName(rule)} already contains the card's commits.`;
  if (steps.length === 0) return "Nothing happens on GitHub.";
  if (certainty === "certain") return "Nothing blocks the move.";
  return certainty === "likely"
    ? "No blocker is known. GitHub decides during the move."
    : "GitHub has not checked this yet. It decides during the move.";
}
