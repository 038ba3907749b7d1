import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { Icon } from "../icon.tsx";
import "./dialog.css";

export interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description?: string;
  readonly children: ReactNode;
  /** The buttons at the end. */
  readonly actions?: ReactNode;
  readonly isWide?: boolean;
  /** Whether Escape and clicks outside do not close it. */
  readonly isFirm?: boolean;
}

/** The dialog itself; see `Dialog`. */
export const DialogRoot = ({
  open,
  onOpenChange,
  title,
  description,
  children,
  actions,
  isWide,
  isFirm,
}: DialogProps) => (
  <Base.Root
    open={open}
    onOpenChange={(next) => (next || !isFirm) && onOpenChange(next)}
    disablePointerDismissal={isFirm ?? false}
  >
    <Base.Portal>
      <Base.Backdrop className="dialog-scrim" />
      <Base.Popup className="dialog" data-wide={isWide || undefined}>
        <div className="dialog-head">
          <Base.Title className="dialog-title">{title}</Base.Title>
          {!isFirm && (
            <Base.Close render={<Button kind="quiet" aria-label="Close" />}>
              <Icon name="close" />
            </Base.Close>
          )}
        </div>
        {description !== undefined && (
          <Base.Description className="dialog-description">{description}</Base.Description>
        )}
        <div className="dialog-body">{children}</div>
        {actions !== undefined && <div className="dialog-actions">{actions}</div>}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
);
