import type { WebhookDelivery } from "../../api/schema.d.ts";
import { Badge } from "../../components/badge.tsx";
import { Ago } from "../../text/time.tsx";

export const isDelivered = ({ status }: Pick<WebhookDelivery, "status">): boolean =>
  status !== null && status >= 200 && status < 300;

interface Props {
  readonly delivery: WebhookDelivery;
  /** What was sent. */
  readonly name: string;
}

/** How an attempt ended: its status, or why there was no response, and the start of the response. */
export const Outcome = ({ delivery, name }: Props) => (
  <div className="outcome">
    <p className="outcome-line">
      <Badge tone={isDelivered(delivery) ? "success" : "danger"}>{delivery.status ?? "No response"}</Badge>
      <strong dir="auto">{name}</strong>
      <span className="outcome-facts">
        <Ago at={delivery.at} /> · {delivery.ms} ms
      </span>
    </p>
    {delivery.error !== null && (
      <p className="outcome-error" dir="auto">
        {delivery.error}
      </p>
    )}
    {delivery.response !== "" && (
      <details>
        <summary>Response</summary>
        <pre className="outcome-response" dir="auto">
          {delivery.response}
        </pre>
      </details>
    )}
  </div>
);
