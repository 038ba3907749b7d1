import { createContext, useCallback, useContext, useEffect, useState, type ReactNode } from "react";
import { useAnnounce } from "./announcer.tsx";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import "./toast.css";

export interface Notice {
  readonly title: string;
  readonly description?: string;
  readonly kind?: "done" | "failed";
  /** For example an undo. */
  readonly action?: { readonly label: string; readonly run: () => void };
}

type Shown = Notice & { readonly id: number };

const ToastContext = createContext<(notice: Notice) => void>(() => undefined);

/** How long a notice stays unless the pointer or the focus is on it, in milliseconds. */
const STAY_MS = 7_000;
const MAX_SHOWN = 3;

/** Shows a short notice in the corner, which is also announced. What a user must act on belongs on the page. */
export const useToast = (): ((notice: Notice) => void) => useContext(ToastContext);

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const announce = useAnnounce();
  const [shown, setShown] = useState<readonly Shown[]>([]);
  const show = useCallback(
    (notice: Notice) => {
      announce([notice.title, notice.description].filter(Boolean).join(". "));
      setShown((all) => [...all, { ...notice, id: (all.at(-1)?.id ?? 0) + 1 }].slice(-MAX_SHOWN));
    },
    [announce],
  );
  const close = useCallback((id: number) => setShown((all) => all.filter((each) => each.id !== id)), []);
  return (
    <ToastContext value={show}>
      {children}
      <section className="toasts" aria-label="Notices">
        {shown.map((notice) => (
          <Toast key={notice.id} notice={notice} onClose={close} />
        ))}
      </section>
    </ToastContext>
  );
}

function Toast({ notice, onClose }: { readonly notice: Shown; readonly onClose: (id: number) => void }) {
  const { id, title, description, kind = "done", action } = notice;
  const [isHeld, setIsHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => onClose(id), STAY_MS);
    return () => clearTimeout(timer);
  }, [isHeld, id, onClose]);
  const hold = { onPointerEnter: () => setIsHeld(true), onFocus: () => setIsHeld(true) };
  const letGo = { onPointerLeave: () => setIsHeld(false), onBlur: () => setIsHeld(false) };
  return (
    <div className="toast" data-kind={kind} {...hold} {...letGo}>
      <div className="toast-text">
        <p className="toast-title">{title}</p>
        {description !== undefined && <p className="toast-description">{description}</p>}
      </div>
      {action && (
        <Button
          onClick={() => {
            onClose(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <Button kind="quiet" aria-label="Dismiss" onClick={() => onClose(id)}>
        <Icon name="close" />
      </Button>
    </div>
  );
}
