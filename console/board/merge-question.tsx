import { useState } from "react";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog/dialog.tsx";
import { Reasons, Steps } from "./drop-preview.tsx";
import type { MergeConfirmation } from "./moves/use-request-move.ts";

interface Props {
  readonly question: MergeConfirmation | null;
  readonly onAnswer: (isConfirmed: boolean) => void;
}

/** Asks before a move that merges: it cannot be undone. */
export function MergeQuestion({ question, onAnswer }: Props) {
  const [last, setLast] = useState(question);
  if (question && question !== last) setLast(question);
  // While it closes, the dialog keeps its text.
  const shown = question ?? last;
  if (!shown) return null;
  const { request, plan } = shown;
  return (
    <Dialog
      open={question !== null}
      onOpenChange={(isOpen) => !isOpen && onAnswer(false)}
      title={`Move #${request.number} to ${request.stageName}?`}
      description="A merge changes a shared branch and cannot be undone."
      actions={
        <>
          <Button onClick={() => onAnswer(false)}>Cancel</Button>
          <Button kind="primary" onClick={() => onAnswer(true)}>
            Merge and move
          </Button>
        </>
      }
    >
      <Steps plan={plan} />
      {!plan.wouldMove && <Reasons plan={plan} />}
    </Dialog>
  );
}
