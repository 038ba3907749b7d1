import { lazy, Suspense, useState } from "react";
import type { DialogProps } from "./dialog-parts.tsx";

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
