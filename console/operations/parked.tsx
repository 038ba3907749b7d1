import type { RefObject } from "react";
import { counted } from "../text/counted.ts";
import { Ago } from "../text/time.tsx";
import { Failures } from "./failures.tsx";
import type { Overview } from "./operations-api.ts";
import { RetryButton } from "./retry-button.tsx";

/** Deliveries of GitHub that failed too often. Later deliveries of their repositories were processed. */
export const Parked = ({ parked, waiting }: Pick<Overview, "parked" | "waiting">) => (
  <Failures
    id="parked"
    title="Parked deliveries"
    empty="A delivery that fails eight times is parked here."
    items={parked}
    count={waiting.parked}
    what="deliveries"
    show={(delivery, heading) => <Delivery key={delivery.guid} delivery={delivery} heading={heading} />}
  />
);

interface Props {
  readonly delivery: Overview["parked"][number];
  readonly heading: RefObject<HTMLElement | null>;
}

function Delivery({ delivery, heading }: Props) {
  const { guid, event, about, attempts, crashes, error, receivedAt } = delivery;
  return (
    <li>
      <div className="operations-text">
        <p>
          <strong>{event}</strong> of <bdi className="mono">{about}</bdi>, received <Ago at={receivedAt} />,{" "}
          {crashes > 0
            ? `ended ${crashes === 1 ? "1 process" : `${crashes} processes`}`
            : `failed ${counted(attempts, "time")}`}
        </p>
        {error !== null && (
          <p className="operations-error" dir="auto">
            {error}
          </p>
        )}
        <p className="operations-about mono">{guid}</p>
      </div>
      <RetryButton
        what={`deliveries/${encodeURIComponent(guid)}`}
        label="Retry"
        name={`Retry delivery ${guid}`}
        heading={heading}
      />
    </li>
  );
}
