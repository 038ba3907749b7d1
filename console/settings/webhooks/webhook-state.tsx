import type { Webhook } from "../../api/schema.d.ts";
import { Badge } from "../../components/badge.tsx";
import { Ago } from "../../text/time.tsx";
import { NextAttempt } from "./next-attempt.tsx";

/** Whether a webhook works, and what to do if it does not. */
export function WebhookState({ webhook }: { readonly webhook: Webhook }) {
  const { paused, pausedAt, failingSince, nextAttemptAt } = webhook;
  if (!paused && failingSince === null) return <Badge tone="success">Active</Badge>;
  if (!paused)
    return (
      <span className="webhook-state">
        <Badge tone="warning">Failing</Badge>
        <span>
          Deliveries have failed since <Ago at={failingSince ?? ""} />.
          {nextAttemptAt !== null && (
            <>
              {" "}
              <NextAttempt at={nextAttemptAt} />
            </>
          )}
        </span>
      </span>
    );
  const { tone, label, advice } = PAUSED[webhook.pausedReason ?? "maintainer"];
  return (
    <span className="webhook-state">
      <Badge tone={tone}>{label}</Badge>
      <span>
        {pausedAt !== null && (
          <>
            Since <Ago at={pausedAt} />.{" "}
          </>
        )}
        {advice}
      </span>
    </span>
  );
}

const PAUSED = {
  maintainer: {
    tone: "neutral",
    label: "Paused by hand",
    advice: "Resume it to send what has happened since.",
  },
  failing: {
    tone: "danger",
    label: "Paused after failures",
    advice: "Deliveries failed for five days. Repair the receiver, send a ping, then resume the webhook.",
  },
  left: {
    tone: "danger",
    label: "Paused: somebody left",
    advice:
      "Somebody who chose the URL or knows the secret left the board. Check the URL, replace the secret, then resume the webhook.",
  },
  gone: {
    tone: "danger",
    label: "Disabled by the receiver",
    advice:
      "The receiver responded with 410: it accepts no more events. Delete the webhook, or correct the URL and resume it.",
  },
} as const;
