import { lazy, Suspense, useState, type ReactNode } from "react";

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

/** Loaded when a page first opens a dialog, or when it is idle. */
export const loadDialogs = () => import("./dialog-parts.tsx");

const DialogRoot = lazy(async () => ({ default: (await loadDialogs()).DialogRoot }));

/** A modal dialog. Escape closes it, and the focus returns to where it was. */
export function Dialog(props: DialogProps) {
  const [wasOpen, setWasOpen] = useState(false);
  if (props.open && !wasOpen) setWasOpen(true);
  if (!wasOpen) return null;
  return (
    <Suspense>
      <DialogRoot {...props} />
    </Suspense>
  );
}
