import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from "react";
import { readStorage, writeStorage } from "../api/storage.ts";
import { SHORTCUTS, type ShortcutName } from "./shortcuts.ts";

type Handler = () => void;

interface Keyboard {
  readonly attach: (name: ShortcutName, run: Handler) => () => void;
  /** The shortcuts that do something on this page. */
  readonly attached: () => readonly ShortcutName[];
  /** Whether keys without Ctrl or ⌘ do anything (WCAG 2.1.4). */
  readonly hasCharacterKeys: boolean;
  readonly setCharacterKeys: (isOn: boolean) => void;
}

const KeyboardContext = createContext<Keyboard | null>(null);
const SETTING = "trunkline:character-keys";
/** How long the first of two keys waits for the second, in milliseconds. */
const SEQUENCE_MS = 1_200;

export function useKeyboard(): Keyboard {
  const keyboard = useContext(KeyboardContext);
  if (!keyboard) throw new Error("useKeyboard is used outside of KeyboardProvider");
  return keyboard;
}

/** Attaches what a shortcut does while the component is on the page. The newest component wins. */
export function useShortcut(name: ShortcutName, run: Handler): void {
  const { attach } = useKeyboard();
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => attach(name, () => latest.current()), [attach, name]);
}

export function KeyboardProvider({ children }: { readonly children: ReactNode }) {
  const handlers = useRef<{ readonly name: ShortcutName; readonly run: Handler }[]>([]);
  const [hasCharacterKeys, setHasCharacterKeys] = useState(
    () => readStorage("localStorage", SETTING) !== "off",
  );
  const attach = useCallback((name: ShortcutName, run: Handler) => {
    const entry = { name, run };
    handlers.current = [entry, ...handlers.current];
    return () => {
      handlers.current = handlers.current.filter((each) => each !== entry);
    };
  }, []);
  const attached = useCallback(() => [...new Set(handlers.current.map(({ name }) => name))], []);
  const setCharacterKeys = useCallback((isOn: boolean) => {
    writeStorage("localStorage", SETTING, isOn ? "on" : "off");
    setHasCharacterKeys(isOn);
  }, []);
  useEffect(() => {
    let first: { key: string; at: number } | null = null;
    const onKeyDown = (event: KeyboardEvent): void => {
      const pressed = pressedKey(event);
      if (event.defaultPrevented || event.isComposing || pressed === null) return;
      const hasModifier = pressed.startsWith("Mod+");
      if (!hasModifier && (!hasCharacterKeys || isTyping(event.target))) return;
      const sequence = first && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${pressed}` : null;
      first = { key: pressed, at: event.timeStamp };
      const found = [sequence, pressed]
        .map((keys) => handlers.current.find(({ name }) => hasKeys(name, keys)))
        .find((handler) => handler !== undefined);
      if (!found) return;
      first = null;
      event.preventDefault();
      found.run();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [hasCharacterKeys]);
  const keyboard = useMemo(
    () => ({ attach, attached, hasCharacterKeys, setCharacterKeys }),
    [attach, attached, hasCharacterKeys, setCharacterKeys],
  );
  return <KeyboardContext value={keyboard}>{children}</KeyboardContext>;
}

const hasKeys = (name: ShortcutName, keys: string | null): boolean =>
  keys !== null && (SHORTCUTS[name].keys as readonly string[]).includes(keys);

/** The name of the key as in the registry; null for combinations that belong to the browser. */
function pressedKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string | null {
  if (altKey) return null;
  if (ctrlKey || metaKey) return `Mod+${key.toLowerCase()}`;
  return shiftKey && /^[A-Z]$/.test(key) ? `Shift+${key}` : key;
}

/** Whether keys are text here, or belong to an open menu or dialog. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input, textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"]') !==
    null;
