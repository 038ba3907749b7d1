import { Link } from "wouter";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import type { Counted, Effect } from "./describe-changes.ts";
import "./effects.css";

const ICONS: Readonly<Record<Effect["kind"], IconName>> = { blocks: "alert", warns: "alert", tells: "check" };

interface Props {
  readonly effects: readonly Effect[];
  /** Takes the removal of a stage back. */
  readonly onKeep?: (key: string) => void;
}

/** What a change of the flow does, and to which cards. */
export const Effects = ({ effects, onKeep }: Props) => (
  <ul className="flow-effects">
    {effects.map((effect, index) => (
      <li key={index} className="flow-effect" data-kind={effect.kind}>
        <Icon name={ICONS[effect.kind]} />
        <div>
          <p dir="auto">{effect.text}</p>
          <Cards cards={effect.cards} />
        </div>
        {onKeep && effect.removes !== undefined && (
          <Button kind="quiet" onClick={() => onKeep(effect.removes ?? "")}>
            Keep it
          </Button>
        )}
      </li>
    ))}
  </ul>
);

function Cards({ cards: { count, numbers } }: { readonly cards: Counted }) {
  const { base } = useWorkspace();
  if (count === 0) return null;
  const more = count - numbers.length;
  return (
    <p className="flow-effect-cards">
      {numbers.map((number) => (
        <Link key={number} href={`${base}/cards/${number}`} className="mono">
          #{number}
        </Link>
      ))}
      {more > 0 && <span>and {more} more</span>}
    </p>
  );
}
