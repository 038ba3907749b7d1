import type { CardSnapshot } from "../api/reads.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Ago, exactTime } from "../text/time.tsx";
import type { Stage } from "./moves/plan.tsx";

interface Props {
  readonly card: CardSnapshot;
  readonly stage: Stage | undefined;
  readonly onLeave: () => void;
}

/** Number, stage, author and claim of a card. */
export const CardLine = ({ card, stage, onLeave }: Props) => (
  <header className="card-head">
    <p className="card-line">
      <Button kind="quiet" className="card-back" onClick={onLeave} aria-keyshortcuts="Escape">
        <Icon name="board" />
        Board
      </Button>
      <span className="mono card-number">#{card.number}</span>
      {stage && (
        <Badge tone={stage.rule.type === "merge" ? "inverse" : "accent"}>
          <bdi>{stage.name}</bdi>
        </Badge>
      )}
      {card.hotfix && <Badge tone="warning">hotfix</Badge>}
      <span>
        written by <bdi>{card.createdBy.name}</bdi> <Ago at={card.createdAt} />, changed{" "}
        <Ago at={card.updatedAt} />
      </span>
    </p>
    {card.claim && (
      <p className="card-claim">
        <Icon name="clock" />
        <span>
          <bdi>{card.claim.holder.name}</bdi> works on this card until{" "}
          <time dateTime={card.claim.expiresAt}>{exactTime(card.claim.expiresAt)}</time>
          {card.claim.note !== null && (
            <>
              : <q dir="auto">{card.claim.note}</q>
            </>
          )}
        </span>
      </p>
    )}
  </header>
);
