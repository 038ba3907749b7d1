import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/problem.ts";
import type { Webhook, WebhookDelivery } from "../../api/schema.d.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { isDelivered } from "./outcome.tsx";

type Action = "ping" | "pause" | "resume";

/** What a button of a webhook does at once. A failure is shown next to the buttons. */
export function useWebhookAction({ id }: Webhook) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const ping = useWrite("POST /v1/webhooks/{id}/ping");
  const change = useWrite("PATCH /v1/webhooks/{id}");
  const [running, setRunning] = useState<Action | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  /** Does the action. Returns the notice of how it ended. */
  const perform = async (action: Action, onPing: (delivery: WebhookDelivery) => void) => {
    if (action === "ping") {
      const { data: delivery } = await ping.mutateAsync({ path: { id } });
      onPing(delivery);
      const title =
        delivery.status === null
          ? "The ping got no response"
          : `The receiver responded to the ping with ${delivery.status}`;
      return { title, kind: isDelivered(delivery) ? "done" : "failed" } as const;
    }
    await change.mutateAsync({ path: { id }, body: { paused: action === "pause" } });
    return { title: action === "pause" ? "The webhook was paused" : "The webhook was resumed" };
  };
  const start = async (action: Action, onPing: (delivery: WebhookDelivery) => void): Promise<void> => {
    setRunning(action);
    setProblem(null);
    try {
      toast(await perform(action, onPing));
    } catch (error) {
      setProblem(messageOf(error));
    }
    setRunning(null);
    await queries.invalidateQueries({ queryKey: keys.list("webhooks") });
    await queries.invalidateQueries({ queryKey: keys.inbox });
  };
  return {
    running,
    problem,
    run: (action: Action, onPing: (delivery: WebhookDelivery) => void = () => undefined) => {
      if (running === null) void start(action, onPing);
    },
  };
}
