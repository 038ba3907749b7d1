import type { CardSnapshot } from "../../api/reads.ts";
import type { Blocked, TimelineItem } from "../../api/schema.d.ts";
import { Button } from "../../components/button.tsx";
import { Ago } from "../../text/time.tsx";
import type { Stage } from "./plan.tsx";

interface Props {
  readonly refused: Blocked;
  /** The stage that the card could not enter. */
  readonly stage: Stage;
  readonly onRetry: ((stage: Stage) => void) | null;
}

/** Says that the refusal of the last move does not block the card any more, and offers the move. */
export const EndedRefusal = ({ refused, stage, onRetry }: Props) => (
  <section className="ended-refusal" aria-label="The last move was not repeated">
    <p role="status">
      The move to <b dir="auto">{stage.name}</b> was refused <Ago at={refused.at} />. The card is no longer
      blocked, and Trunkline did not repeat the move.
    </p>
    {onRetry && <Button onClick={() => onRetry(stage)}>Try the move again</Button>}
  </section>
);

/** The last refusal, if the card has not moved since and is not blocked by it any more. */
export function endedRefusal(card: CardSnapshot, timeline: readonly TimelineItem[]): Blocked | null {
  if (card.blocked || card.armed) return null;
  const last = timeline.findLast(
    (item) =>
      item.type === "event" &&
      ["status_changed", "promotion_refused", "refusal_withdrawn"].includes(item.kind),
  );
  return last?.type === "event" && last.kind === "promotion_refused" && last.data.statusId !== card.statusId
    ? last.data
    : null;
}
