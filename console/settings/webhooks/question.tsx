import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/problem.ts";
import type { Webhook } from "../../api/schema.d.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog/dialog.tsx";

export type Asked = "rotate" | "delete";

interface Props {
  readonly webhook: Webhook;
  readonly asked: Asked | null;
  readonly onClose: () => void;
  readonly onSecret: (secret: string) => void;
  readonly onDeleted: () => void;
}

const TEXTS = {
  rotate: {
    title: "Replace the secret?",
    description: "For 24 hours requests have the signatures of both secrets. Then only the new one is valid.",
    label: "Replace the secret",
    done: "The secret was replaced",
  },
  delete: {
    title: "Delete this webhook?",
    description: "Its deliveries are deleted, too. To stop it for a while, pause it instead.",
    label: "Delete",
    done: "The webhook was deleted",
  },
} as const;

/** Asks before a secret is replaced or a webhook is deleted. */
export function Question({ webhook: { id, url }, asked, onClose, onSecret, onDeleted }: Props) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const rotate = useWrite("POST /v1/webhooks/{id}/rotate");
  const remove = useWrite("DELETE /v1/webhooks/{id}");
  const [last, setLast] = useState<Asked>("rotate");
  if (asked && asked !== last) setLast(asked);
  // While it closes, the dialog keeps its text.
  const { title, description, label, done } = TEXTS[asked ?? last];
  const { error, isPending } = last === "rotate" ? rotate : remove;
  const confirm = async (): Promise<void> => {
    const path = { id };
    try {
      if (last === "rotate") onSecret((await rotate.mutateAsync({ path })).data.secret);
      else await remove.mutateAsync({ path });
    } catch {
      return;
    }
    toast({ title: done });
    onClose();
    await queries.invalidateQueries({ queryKey: keys.list("webhooks") });
    if (last === "delete") onDeleted();
  };
  return (
    <Dialog
      open={asked !== null}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={last === "delete" ? "danger" : "primary"}
            isBusy={isPending}
            onClick={() => void confirm()}
          >
            {label}
          </Button>
        </>
      }
    >
      <p className="webhook-url" dir="auto">
        {url}
      </p>
      {error && (
        <p className="webhook-problem" role="alert">
          {messageOf(error)}
        </p>
      )}
    </Dialog>
  );
}
