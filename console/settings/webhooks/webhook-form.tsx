import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { ApiProblem, messageOf } from "../../api/problem.ts";
import type { Webhook } from "../../api/schema.d.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog/dialog.tsx";
import { Field } from "../../components/field.tsx";
import { KindChoice } from "./kind-choice.tsx";
import type { Kind } from "./kinds.ts";

interface FormProps {
  /** Null for a new one. */
  readonly webhook: Webhook | null;
  readonly onClose: () => void;
  /** With the secret of a new webhook. */
  readonly onCreated: (secret: string) => void;
}

/** Asks where to send which events. What was typed stays while saving fails. */
export const WebhookForm = ({ open, ...form }: FormProps & { readonly open: boolean }) => (
  <Dialog
    open={open}
    onOpenChange={(isOpen) => !isOpen && form.onClose()}
    isWide
    title={form.webhook ? "Edit the webhook" : "New webhook"}
  >
    {open && <Form {...form} />}
  </Dialog>
);

function Form({ webhook, onClose, onCreated }: FormProps) {
  const { board } = useWorkspace();
  const draft = useDraft(`webhook:${webhook?.id ?? board.workspaceId}`);
  const [url, setUrl] = useState(draft.text || (webhook?.url ?? ""));
  const [kinds, setKinds] = useState<readonly Kind[] | null>(webhook?.kinds ?? null);
  const close = (): void => {
    draft.clear();
    onClose();
  };
  const [lacksKind, setLacksKind] = useState(false);
  const { save, error, isPending } = useSave(webhook, close, onCreated);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setLacksKind(kinds?.length === 0);
    if (!isPending && kinds?.length !== 0) save({ url: url.trim(), kinds: kinds && [...kinds] });
  };
  const isAboutUrl = error instanceof ApiProblem && error.message.startsWith("body.url");
  return (
    <form className="webhook-form" onSubmit={submit}>
      <Field
        label="URL"
        hint="An https address that can be reached from the internet"
        type="url"
        inputMode="url"
        required
        autoFocus
        maxLength={2_000}
        placeholder="https://example.com/hooks/trunkline"
        value={url}
        onChange={({ target }) => {
          setUrl(target.value);
          draft.setText(target.value);
        }}
        error={isAboutUrl ? error.message.replace(/^body\.url: /, "") : undefined}
      />
      <KindChoice
        chosen={kinds}
        onChoose={setKinds}
        problem={lacksKind && kinds?.length === 0 ? "Choose at least one kind of event." : undefined}
      />
      {error && !isAboutUrl && (
        <p className="webhook-problem" role="alert">
          Not saved. {messageOf(error)}
        </p>
      )}
      <div className="dialog-actions">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary" isBusy={isPending}>
          {webhook ? "Save" : "Create"}
        </Button>
      </div>
    </form>
  );
}

interface Input {
  readonly url: string;
  readonly kinds: Kind[] | null;
}

/** Creates the webhook or changes it, and then closes the form. */
function useSave(webhook: Webhook | null, onClose: () => void, onCreated: (secret: string) => void) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const create = useWrite("POST /v1/webhooks");
  const change = useWrite("PATCH /v1/webhooks/{id}");
  const done = (sentence: string): void => {
    void queries.invalidateQueries({ queryKey: keys.list("webhooks") });
    toast({ title: sentence });
    onClose();
  };
  const created = ({ data }: { readonly data: { readonly secret: string } }): void => {
    done("The webhook was created");
    onCreated(data.secret);
  };
  const save = (body: Input): void => {
    if (webhook) {
      change.mutate({ path: { id: webhook.id }, body }, { onSuccess: () => done("Saved") });
      return;
    }
    create.mutate({ body }, { onSuccess: created });
  };
  const { error, isPending } = webhook ? change : create;
  return { save, error, isPending };
}
