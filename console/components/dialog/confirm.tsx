import type { ReactNode } from "react";
import { messageOf } from "../../api/problem.ts";
import { Button } from "../button.tsx";
import { Dialog } from "./dialog.tsx";

interface Props {
  readonly open: boolean;
  readonly title: string;
  /** What happens, and what cannot be undone. */
  readonly children: ReactNode;
  /** The verb of the button, such as `Delete the label`. */
  readonly action: string;
  /** The action cannot be done now; `children` say why and what to do. */
  readonly isUnavailable?: boolean;
  readonly isBusy: boolean;
  /** Why the last attempt failed. */
  readonly error: unknown;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** Asks before something that cannot be undone. A refusal is shown in it, and it stays open. */
export function Confirm(props: Props) {
  const { open, title, children, action, isUnavailable = false, isBusy, error, onConfirm, onCancel } = props;
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && onCancel()}
      title={title}
      actions={
        <>
          <Button onClick={onCancel}>Cancel</Button>
          <Button kind="danger" isBusy={isBusy} disabled={isUnavailable} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error !== null && error !== undefined && (
        <p className="confirm-problem" role="alert">
          {messageOf(error)}
        </p>
      )}
    </Dialog>
  );
}
