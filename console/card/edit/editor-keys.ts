import type { KeyboardEvent } from "react";

interface Keys {
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

/** ⌘ or Ctrl with Enter saves, Escape cancels, in every field below. */
export const editorKeys =
  ({ onSave, onCancel }: Keys) =>
  (event: KeyboardEvent): void => {
    const isSave = event.key === "Enter" && (event.metaKey || event.ctrlKey);
    if (event.nativeEvent.isComposing || !(isSave || event.key === "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    if (isSave) onSave();
    else onCancel();
  };
