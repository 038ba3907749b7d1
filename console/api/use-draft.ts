import { useCallback, useState } from "react";
import { readStorage, writeStorage } from "./storage.ts";

const PREFIX = "trunkline:draft:";

/**
 * Text that a user is typing. It survives a reload and a sign-in in the same tab. `name` identifies its purpose, for
 * example `comment:<workspaceId>:7`. Call `clear` when it was sent.
 */
export function useDraft(name: string): {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly clear: () => void;
} {
  const key = PREFIX + name;
  const [draft, setDraft] = useState(() => ({ key, text: stored(key) }));
  const text = draft.key === key ? draft.text : stored(key);
  const setText = useCallback(
    (next: string) => {
      setDraft({ key, text: next });
      // If storage is full or forbidden, the text is kept until the page is left.
      writeStorage("sessionStorage", key, next === "" ? null : next);
    },
    [key],
  );
  const clear = useCallback(() => setText(""), [setText]);
  return { text, setText, clear };
}

const stored = (key: string): string => readStorage("sessionStorage", key) ?? "";
