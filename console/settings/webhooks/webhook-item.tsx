import { useState } from "react";
import type { Webhook, WebhookDelivery } from "../../api/schema.d.ts";
import { Button } from "../../components/button.tsx";
import { Ago } from "../../text/time.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Outcome } from "./outcome.tsx";
import { Question, type Asked } from "./question.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import { useWebhookAction } from "./use-webhook-action.ts";
import { WebhookForm } from "./webhook-form.tsx";
import { WebhookState } from "./webhook-state.tsx";

interface Props {
  readonly webhook: Webhook;
  /** Shows a new secret. */
  readonly onSecret: (secret: string) => void;
  readonly onDeleted: () => void;
}

/** A webhook with its state, what can be done with it, and its deliveries. */
export function WebhookItem({ webhook, onSecret, onDeleted }: Props) {
  const { id, url, kinds, paused, createdBy, createdAt } = webhook;
  const [isEditing, setIsEditing] = useState(false);
  const [showsDeliveries, setShowsDeliveries] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [replayAfter, setReplayAfter] = useState<string | null>(null);
  const [pinged, setPinged] = useState<WebhookDelivery | null>(null);
  const { run, running, problem } = useWebhookAction(webhook);
  const ping = (): void => {
    setPinged(null);
    run("ping", setPinged);
  };
  return (
    <li className="webhook" aria-labelledby={`webhook-${id}`}>
      <h2 className="webhook-url" id={`webhook-${id}`} dir="auto">
        {url}
      </h2>
      <WebhookState webhook={webhook} />
      <p className="webhook-about">
        {kinds === null ? "All kinds of events" : `${kinds.length} kinds of events`} · delivered up to event{" "}
        {webhook.position} · created <Ago at={createdAt} />
        {createdBy && (
          <>
            {" "}
            by <bdi>{createdBy.name}</bdi>
          </>
        )}
      </p>
      <div className="webhook-actions">
        <Button aria-expanded={showsDeliveries} onClick={() => setShowsDeliveries(!showsDeliveries)}>
          Deliveries
        </Button>
        <Button isBusy={running === "ping"} onClick={ping}>
          Send a ping
        </Button>
        <Button
          isBusy={running === "pause" || running === "resume"}
          onClick={() => run(paused ? "resume" : "pause")}
        >
          {paused ? "Resume" : "Pause"}
        </Button>
        <Button onClick={() => setIsEditing(true)}>Edit</Button>
        <Button onClick={() => setReplayAfter("")}>Send again…</Button>
        <Button onClick={() => setAsked("rotate")}>New secret…</Button>
        <Button kind="danger" onClick={() => setAsked("delete")}>
          Delete…
        </Button>
      </div>
      {problem !== null && (
        <p className="webhook-problem" role="alert">
          {problem}
        </p>
      )}
      {pinged && <Outcome delivery={pinged} name="Ping" />}
      {showsDeliveries && <Deliveries webhook={webhook} onReplay={setReplayAfter} />}
      <WebhookForm
        webhook={webhook}
        open={isEditing}
        onClose={() => setIsEditing(false)}
        onCreated={onSecret}
      />
      <Question
        webhook={webhook}
        asked={asked}
        onClose={() => setAsked(null)}
        onSecret={onSecret}
        onDeleted={onDeleted}
      />
      <ReplayDialog webhook={webhook} after={replayAfter} onClose={() => setReplayAfter(null)} />
    </li>
  );
}
