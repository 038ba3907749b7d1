import { Dialog } from "../components/dialog/dialog.tsx";
import { Keys } from "./keys.tsx";
import { useKeyboard } from "./provider.tsx";
import { SHORTCUTS, type Shortcut } from "./shortcuts.ts";
import "./keyboard.css";

/** The shortcuts that apply on this page, and the switch for those of one character. */
export default function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const { attached, hasCharacterKeys, setCharacterKeys } = useKeyboard();
  const names: readonly string[] = attached();
  const shown = Object.entries<Shortcut>(SHORTCUTS).flatMap(([name, each]) =>
    names.includes(name) ? each : [],
  );
  const own = shown.filter(({ scope }) => scope !== "everywhere");
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()} title="Keyboard shortcuts">
      {own.length > 0 && <Group title="On this page" shortcuts={own} />}
      <Group title="Everywhere" shortcuts={shown.filter(({ scope }) => scope === "everywhere")} />
      <label className="shortcut-switch">
        <input
          type="checkbox"
          checked={hasCharacterKeys}
          onChange={(event) => setCharacterKeys(event.target.checked)}
        />
        Shortcuts without Ctrl or ⌘
      </label>
    </Dialog>
  );
}

const Group = ({ title, shortcuts }: { title: string; shortcuts: readonly Shortcut[] }) => (
  <section className="shortcut-group">
    <h3>{title}</h3>
    <dl>
      {shortcuts.map(({ label, keys }) => (
        <div className="shortcut" key={label}>
          <dt>{label}</dt>
          <dd>
            {keys.map((each) => (
              <Keys key={each} keys={each} />
            ))}
          </dd>
        </div>
      ))}
    </dl>
  </section>
);
