import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { useRead } from "../../api/reads.ts";
import { messageOf } from "../../api/problem.ts";
import type { Webhook } from "../../api/schema.d.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog/dialog.tsx";
import { Field } from "../../components/field.tsx";

interface Props {
  readonly webhook: Webhook;
  /** The events after this one are proposed; empty for all that the feed keeps; null while the dialog is closed. */
  readonly after: string | null;
  readonly onClose: () => void;
}

/** Asks after which event the webhook sends all events again. */
export const ReplayDialog = ({ webhook, after, onClose }: Props) => (
  <Dialog
    open={after !== null}
    onOpenChange={(isOpen) => !isOpen && onClose()}
    title="Send events again"
    description="Sends the events after this number again, in order, also those that were delivered. Each keeps its webhook-id."
  >
    {after !== null && <Form webhook={webhook} after={after} onClose={onClose} />}
  </Dialog>
);

function Form({ webhook: { id, paused }, after, onClose }: Props & { readonly after: string }) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const replay = useWrite("POST /v1/webhooks/{id}/replay");
  const { data: bounds } = useRead(keys.feedBounds, "GET /v1/events", { query: {} }, { staleTime: 0 });
  const [typed, setTyped] = useState<string | null>(after || null);
  const position = typed ?? (bounds ? String(BigInt(bounds.oldest) - 1n) : "");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (replay.isPending) return;
    replay.mutate(
      { path: { id }, body: { after: position.trim() } },
      {
        onSuccess: () => {
          toast({ title: "The events are sent again" });
          onClose();
          void queries.invalidateQueries({ queryKey: keys.list("webhooks") });
        },
      },
    );
  };
  const kept = bounds && `The feed keeps the events ${bounds.oldest} to ${bounds.head}.`;
  return (
    <form onSubmit={submit}>
      <Field
        label="Send the events after number"
        hint={[startingAt(position), kept, paused && "The webhook stays paused until you resume it."]
          .filter(Boolean)
          .join(" ")}
        inputMode="numeric"
        pattern="[0-9]+"
        required
        autoFocus
        value={position}
        onChange={({ target }) => setTyped(target.value)}
        error={replay.error ? messageOf(replay.error) : undefined}
      />
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isBusy={replay.isPending}>
          Send again
        </Button>
      </div>
    </form>
  );
}

/** The first event that is sent; null while the position is not a number. */
const startingAt = (position: string): string | null =>
  /^\d+$/.test(position.trim()) ? `The first one sent is event ${BigInt(position.trim()) + 1n}.` : null;
