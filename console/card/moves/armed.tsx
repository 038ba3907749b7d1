import { useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/problem.ts";
import type { CardSnapshot } from "../../api/reads.ts";
import type { ArmedMove } from "../../api/schema.d.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { exactTime } from "../../text/time.tsx";
import { shortSha } from "../git/external-link.tsx";

interface ArmedProps {
  readonly armed: ArmedMove;
  readonly card: CardSnapshot;
  readonly stageName: string;
  readonly mayCancel: boolean;
}

/** The move that waits until checks and reviews are there, what it waits for, and how to end that. */
export function Armed({ armed, card, stageName, mayCancel }: ArmedProps) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const { mutate, isPending, error } = useWrite("DELETE /v1/cards/{number}/armed");
  const cancel = (): void =>
    mutate(
      { path: { number: card.number } },
      {
        onSuccess: () => {
          announce(`Card ${card.number} no longer waits for its move to ${stageName}.`);
          void queries.invalidateQueries({ queryKey: keys.card(card.number) });
        },
      },
    );
  return (
    <section className="armed" aria-label={`Waiting move to ${stageName}`}>
      <p className="armed-head">
        <Icon name="clock" />
        <span>
          Moves to <bdi>{stageName}</bdi> when ready
        </span>
      </p>
      <p className="plan-certainty">
        Asked for by <bdi>{armed.by.name}</bdi>, for {armed.heads.map(({ sha }) => shortSha(sha)).join(", ")}{" "}
        only, until {exactTime(armed.expiresAt)}. It waits for:
      </p>
      <ul className="plan-reasons">
        {armed.waitingFor.map(({ reason, message, repository }) => (
          <li key={`${repository} ${reason} ${message}`} dir="auto">
            {message}
          </li>
        ))}
        {armed.waitingFor.length === 0 && <li>nothing more; it moves in a moment.</li>}
      </ul>
      {error && (
        <p className="form-problem" role="alert">
          {messageOf(error)}
        </p>
      )}
      {mayCancel && (
        <Button isBusy={isPending} onClick={cancel}>
          Cancel the waiting move
        </Button>
      )}
    </section>
  );
}
