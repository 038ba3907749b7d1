import { useWorkspace } from "../../api/workspace.tsx";
import type { Webhook, WebhookDelivery } from "../../api/schema.d.ts";
import { usePages } from "../../api/use-pages.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState, ErrorState, Loading } from "../../components/states.tsx";
import { kindText } from "./kinds.ts";
import { NextAttempt } from "./next-attempt.tsx";
import { isDelivered, Outcome } from "./outcome.tsx";

const PAGE = 25;
const REREAD_MS = 5_000;

interface Props {
  readonly webhook: Webhook;
  /** Asks to send the events after this one again. */
  readonly onReplay: (after: string) => void;
}

/** The attempts of the last 14 days, the newest first. */
export function Deliveries({ webhook, onReplay }: Props) {
  const { client, keys } = useWorkspace();
  const { id } = webhook;
  const { items, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(
    keys.deliveries(id),
    async (cursor, signal) => {
      const query = { limit: PAGE, ...(cursor !== null && { cursor }) };
      const page = await client.read("GET /v1/webhooks/{id}/deliveries", { path: { id }, query }, signal);
      return { items: page.data, next: page.next };
    },
    { everyMs: REREAD_MS },
  );
  if (!items)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the deliveries" />
    );
  if (items.length === 0)
    return <EmptyState title="No delivery in the last 14 days">Send a ping to test the receiver.</EmptyState>;
  return (
    <div className="deliveries">
      <ol aria-label="Deliveries">
        {items.map((delivery, at) => (
          <Delivery
            key={delivery.id}
            delivery={delivery}
            attempt={attemptOf(items, at)}
            nextAttemptAt={at === 0 && !isDelivered(delivery) ? webhook.nextAttemptAt : null}
            onReplay={onReplay}
          />
        ))}
      </ol>
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show earlier deliveries
        </Button>
      )}
    </div>
  );
}

interface DeliveryProps {
  readonly delivery: WebhookDelivery;
  readonly attempt: number | null;
  readonly nextAttemptAt: string | null;
  readonly onReplay: (after: string) => void;
}

function Delivery({ delivery, attempt, nextAttemptAt, onReplay }: DeliveryProps) {
  const seq = seqOf(delivery);
  const name = seq === null ? kindText(delivery.kind) : `#${seq} ${kindText(delivery.kind)}`;
  return (
    <li className="delivery">
      <Outcome delivery={delivery} name={name} />
      <p className="delivery-facts">
        {attempt !== null && attempt > 1 && <span>Attempt {attempt}</span>}
        {nextAttemptAt !== null && (
          <span>
            <NextAttempt at={nextAttemptAt} />
          </span>
        )}
        {seq !== null && (
          <Button kind="quiet" onClick={() => onReplay(String(seq - 1))}>
            Send this and later events again…
          </Button>
        )}
      </p>
    </li>
  );
}

/** The number of the event on its board; null for a ping. */
function seqOf({ eventId }: WebhookDelivery): number | null {
  const [, seq] = /-(\d{1,15})$/.exec(eventId) ?? [];
  return seq === undefined || eventId.startsWith("ping-") ? null : Number(seq);
}

/** Which attempt in a row for its event this is; null if the list does not reach back to the first one. */
function attemptOf(deliveries: readonly WebhookDelivery[], at: number): number | null {
  const earlier = deliveries.slice(at).filter(({ kind }) => kind !== "ping");
  const others = earlier.findIndex(({ eventId }) => eventId !== deliveries[at]?.eventId);
  return others < 0 && deliveries.length >= PAGE ? null : others < 0 ? earlier.length : others;
}
