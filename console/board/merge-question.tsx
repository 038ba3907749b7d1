import { useState } from "react";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog/dialog.tsx";
import { Reasons, Steps } from "./drop-preview.tsx";
import { isRefused } from "./moves/plan.ts";
import type { MoveQuestion } from "./moves/use-ask-move.ts";

interface Props {
  readonly question: MoveQuestion | null;
  readonly onAnswer: (isConfirmed: boolean) => void;
}

/** Asks before a move that may merge, or that takes back a card whose work has landed. */
export function MergeQuestion({ question, onAnswer }: Props) {
  const [last, setLast] = useState(question);
  if (question && question !== last) setLast(question);
  // While it closes, the dialog keeps its text.
  const shown = question ?? last;
  if (!shown) return null;
  const { request, plan, skipped } = shown;
  const { description, action, isNo } = wordsOf(shown);
  return (
    <Dialog
      open={question !== null}
      onOpenChange={(isOpen) => !isOpen && onAnswer(false)}
      title={`Move #${request.number} to ${request.stageName}${request.waits ? " when ready" : ""}?`}
      description={description}
      actions={
        <>
          <Button onClick={() => onAnswer(false)}>Cancel</Button>
          <Button kind={isNo ? "secondary" : "primary"} onClick={() => onAnswer(true)}>
            {action}
          </Button>
        </>
      }
    >
      {plan && <Steps plan={plan} />}
      {skipped.map((each) => (
        <p key={each}>{each}</p>
      ))}
      {plan && !plan.wouldMove && <Reasons plan={plan} />}
    </Dialog>
  );
}

function wordsOf({ request: { waits }, plan }: MoveQuestion) {
  if (!plan)
    return {
      description: "Its work is merged. Moving the card back undoes nothing on GitHub.",
      action: "Move back",
      isNo: false,
    };
  if (waits)
    return {
      description:
        "Trunkline merges these commits by itself as soon as they are ready. A merge changes a shared branch and cannot be undone.",
      action: "Merge when ready",
      isNo: false,
    };
  if (isRefused(plan))
    return {
      description: "This move would be refused now. If you try it anyway, the inbox shows the refusal.",
      action: "Try anyway",
      isNo: true,
    };
  return {
    description: "A merge changes a shared branch and cannot be undone.",
    action: "Merge and move",
    isNo: false,
  };
}
