import { useState } from "react";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog/dialog.tsx";
import { Reasons, Steps } from "./drop-preview.tsx";
import { isRefused } from "./moves/plan.ts";
import type { MergeConfirmation } from "./moves/use-request-move.ts";

interface Props {
  readonly question: MergeConfirmation | null;
  readonly onAnswer: (isConfirmed: boolean) => void;
}

/** Asks before a move that may merge: a merge cannot be undone. */
export function MergeQuestion({ question, onAnswer }: Props) {
  const [last, setLast] = useState(question);
  if (question && question !== last) setLast(question);
  // While it closes, the dialog keeps its text.
  const shown = question ?? last;
  if (!shown) return null;
  const { request, plan, skipped } = shown;
  const isNo = isRefused(plan);
  return (
    <Dialog
      open={question !== null}
      onOpenChange={(isOpen) => !isOpen && onAnswer(false)}
      title={`Move #${request.number} to ${request.stageName}?`}
      description={
        isNo
          ? "This move would be refused now. If you try it anyway, the inbox shows the refusal."
          : "A merge changes a shared branch and cannot be undone."
      }
      actions={
        <>
          <Button onClick={() => onAnswer(false)}>Cancel</Button>
          <Button kind={isNo ? "secondary" : "primary"} onClick={() => onAnswer(true)}>
            {isNo ? "Try anyway" : "Merge and move"}
          </Button>
        </>
      }
    >
      <Steps plan={plan} />
      {skipped.map((each) => (
        <p key={each}>{each}</p>
      ))}
      {!plan.wouldMove && <Reasons plan={plan} />}
    </Dialog>
  );
}
