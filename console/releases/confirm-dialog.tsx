import { useId, type ReactNode } from "react";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog/dialog.tsx";
import { Problem } from "./problem.tsx";
import "./release-dialogs.css";

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly confirm: string;
  readonly kind?: "primary" | "danger";
  readonly isWide?: boolean;
  readonly isBusy: boolean;
  readonly isDisabled?: boolean;
  /** What is missing until the action can be confirmed; it disables the button. */
  readonly lacking?: string | null;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly children: ReactNode;
}

/** Says what an action will do before it does it. A refusal keeps the dialog open and shows why. */
export const ConfirmDialog = (props: Props) => {
  const { open, onClose, title, confirm, kind = "primary", isBusy, isDisabled = false, onConfirm } = props;
  const { lacking = null } = props;
  const lackingId = useId();
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title={title}
      isWide={props.isWide ?? false}
      actions={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            kind={kind}
            isBusy={isBusy}
            disabled={isDisabled || lacking !== null}
            aria-describedby={lacking === null ? undefined : lackingId}
            onClick={onConfirm}
          >
            {isBusy ? `${confirm}…` : confirm}
          </Button>
        </>
      }
    >
      <div className="release-dialog">
        {props.children}
        <Problem error={props.error} />
        {lacking !== null && (
          <p id={lackingId} className="release-lacking">
            {lacking}
          </p>
        )}
      </div>
    </Dialog>
  );
};
