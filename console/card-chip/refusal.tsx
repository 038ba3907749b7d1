import type { Blocked } from "../api/schema.d.ts";
import { Icon } from "../components/icon.tsx";
import "./refusal.css";

interface Props {
  readonly blocked: {
    readonly reasons: readonly Pick<Blocked["reasons"][number], "reason" | "message" | "repository">[];
  };
  /** Instead of the stage, if it was no move that was refused. */
  readonly title?: string | undefined;
  /** The name of the stage that the card could not enter, if it is known. */
  readonly stage?: string | undefined;
  /** Only the first reason, for a card on the board. */
  readonly isShort?: boolean;
}

/** Why a move was refused, in the words of GitHub or of the gate that refused it. */
export function Refusal({ blocked, title, stage, isShort = false }: Props) {
  const reasons = isShort ? blocked.reasons.slice(0, 1) : blocked.reasons;
  const left = blocked.reasons.length - reasons.length;
  return (
    <div className="refusal" data-short={isShort || undefined}>
      <p className="refusal-head">
        <Icon name="alert" />
        {title ?? (stage === undefined ? "Move refused" : `Not moved to ${stage}`)}
        {left > 0 && <span className="refusal-more">+{left} more</span>}
      </p>
      {reasons.map(({ reason, message, repository }) => (
        <figure className="refusal-reason" key={`${repository} ${reason}`}>
          <blockquote className="refusal-words" dir="auto">
            {message}
          </blockquote>
          {repository !== "" && !isShort && (
            <figcaption className="refusal-source mono">{repository}</figcaption>
          )}
        </figure>
      ))}
    </div>
  );
}
