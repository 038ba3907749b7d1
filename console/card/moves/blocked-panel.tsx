import { useQueryClient } from "@tanstack/react-query";
import type { Ref } from "react";
import { Link } from "wouter";
import type { CardSnapshot } from "../../api/reads.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import type { Blocked } from "../../api/schema.d.ts";
import { Refusal } from "../../card-chip/refusal.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { Button } from "../../components/button.tsx";
import { Ago } from "../../text/time.tsx";
import { adviceOn } from "./advice.ts";
import type { Stage } from "./plan.tsx";
import { Refused } from "../git/refused.tsx";
import { useAddress } from "../../shell/use-project.ts";

interface Props {
  readonly blocked: Blocked;
  /** The stage that the card could not enter, while it exists. */
  readonly stage: Stage | undefined;
  readonly isBusy: boolean;
  readonly onRetry: ((stage: Stage) => void) | null;
  /** The card, if this user may withdraw its refused move. */
  readonly withdrawable: CardSnapshot | null;
  readonly panelRef: Ref<HTMLElement>;
}

/** Why the last move was refused, and what to do next. */
export const BlockedPanel = ({ blocked, stage, isBusy, onRetry, withdrawable, panelRef }: Props) => {
  const addressOf = useAddress();
  const advice = adviceOn(blocked.reasons);
  return (
    <section className="blocked-panel" aria-label="The last move was refused" tabIndex={-1} ref={panelRef}>
      <Refusal blocked={blocked} stage={stage?.name} />
      <div className="blocked-next">
        {advice.length > 0 && (
          <>
            <h2>What to do</h2>
            <ul>
              {advice.map((each) => (
                <li key={each}>{each}</li>
              ))}
            </ul>
          </>
        )}
        <p className="form-actions">
          {stage && onRetry && (
            <Button isBusy={isBusy} onClick={() => onRetry(stage)}>
              Try the move again
            </Button>
          )}
          {withdrawable && <Withdraw card={withdrawable} />}
          <Link href={addressOf("/inbox")}>Open the inbox</Link>
          <span className="blocked-at">
            refused <Ago at={blocked.at} />
          </span>
        </p>
      </div>
    </section>
  );
};

/** Takes the attempt back: the card is not blocked any more. */
function Withdraw({ card }: { readonly card: CardSnapshot }) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const { mutate, isPending, error } = useWrite("DELETE /v1/cards/{number}/blocked");
  const withdraw = (): void =>
    mutate(
      { path: { number: card.number } },
      {
        onSuccess: () => {
          announce(`The refused move of card ${card.number} is withdrawn.`);
          void queries.invalidateQueries({ queryKey: keys.card(card.number) });
        },
      },
    );
  return (
    <>
      <Button kind="quiet" isBusy={isPending} onClick={withdraw}>
        Withdraw the move
      </Button>
      {error && <Refused error={error} />}
    </>
  );
}
