import { useEffect, useRef, useState, type ReactNode } from "react";
import { useAnnounce } from "../../components/announcer.tsx";
import { Button } from "../../components/button.tsx";
import { useToast } from "../../components/toast.tsx";
import { editorKeys } from "./editor-keys.ts";
import "../../components/form.css";

interface Props {
  readonly className: string;
  readonly label: string;
  /** The text of the button that saves. */
  readonly action?: string;
  readonly isSaving: boolean;
  /** Why the last attempt failed, and what is kept. Null without a failure. */
  readonly problem: string | null;
  readonly onSave: () => Promise<void>;
  readonly onCancel: () => void;
  /** Beside the buttons. */
  readonly hint?: ReactNode;
  readonly children: ReactNode;
}

/** The form of an editor: Ctrl and Enter saves, Escape cancels. Why a save failed is scrolled into view. */
export function EditorForm({ action = "Save", isSaving, problem, onSave, onCancel, ...rest }: Props) {
  const alert = useRef<HTMLParagraphElement>(null);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    alert.current?.scrollIntoView({ block: "center" });
  }, [problem, attempts]);
  const save = (): void => void onSave().finally(() => setAttempts((count) => count + 1));
  return (
    <form
      className={rest.className}
      aria-label={rest.label}
      onKeyDown={editorKeys({ onSave: save, onCancel })}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {rest.children}
      {problem !== null && (
        <p className="form-problem" role="alert" ref={alert}>
          {problem}
        </p>
      )}
      <div className="form-actions">
        <Button kind="primary" type="submit" isBusy={isSaving}>
          {isSaving ? "Saving…" : action}
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
        {rest.hint}
      </div>
    </form>
  );
}

interface Edit {
  readonly isDirty: boolean;
  readonly save: () => Promise<"saved" | "unchanged" | "conflict" | "failed">;
  /** Returns a function that brings the edit back. */
  readonly discard: () => () => void;
}

/** Saves an edit, or discards it with a way back, and says so in a notice. */
export function useEndOfEdit(
  { isDirty, save, discard }: Edit,
  texts: { readonly saved: string; readonly conflict: string },
): { readonly save: () => Promise<void>; readonly cancel: () => void } {
  const announce = useAnnounce();
  const toast = useToast();
  return {
    save: async () => {
      const outcome = await save();
      if (outcome === "saved") toast({ title: texts.saved });
      if (outcome === "conflict") announce(texts.conflict);
    },
    cancel: () => {
      const restore = discard();
      if (isDirty) toast({ title: "Changes discarded", action: { label: "Restore", run: restore } });
    },
  };
}
