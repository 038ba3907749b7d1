import { useEffect, useState } from "react";

/** After how many milliseconds without a change a text counts as typed. */
const TYPED_AFTER_MS = 500;

/** The names after nobody has changed them for a moment, so that GitHub is not asked about each letter. */
export function useTyped(names: readonly string[]): readonly string[] {
  const text = JSON.stringify(names);
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), TYPED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return JSON.parse(typed) as string[];
}
