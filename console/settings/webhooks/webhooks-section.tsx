import { useRef, useState } from "react";
import { hasRole } from "../../api/session.ts";
import { useRead } from "../../api/reads.ts";
import type { Webhook } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { EmptyState, ErrorState, Loading } from "../../components/states.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { WebhookForm } from "./webhook-form.tsx";
import { WebhookItem } from "./webhook-item.tsx";
import "./webhooks.css";

/** Deliveries are not in the feed, so they are read again in this interval, in milliseconds. */
export const REREAD_MS = 5_000;

/** Webhooks of the board: where events are sent, and how that went. */
export default function WebhooksSection() {
  const { board } = useWorkspace();
  if (!hasRole(board.role, "maintainer"))
    return <EmptyState title="Webhooks">Only maintainers see and change webhooks.</EmptyState>;
  return <Webhooks />;
}

function Webhooks() {
  const { keys } = useWorkspace();
  const webhooks = useRead(keys.list("webhooks"), "GET /v1/webhooks", {}, { all: true, everyMs: REREAD_MS });
  const heading = useRef<HTMLHeadingElement>(null);
  const [isCreating, setIsCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <header className="webhooks-head">
        <div>
          <h1 tabIndex={-1} ref={heading}>
            Webhooks
          </h1>
          <p className="webhooks-about">
            Trunkline sends the events of this board to a URL, in order and signed.{" "}
            <a href="/docs#getWebhooks">Reference</a>
          </p>
        </div>
        <Button kind="primary" onClick={() => setIsCreating(true)}>
          <Icon name="plus" />
          New webhook
        </Button>
      </header>
      <List query={webhooks} onSecret={setSecret} onDeleted={() => heading.current?.focus()} />
      <WebhookForm
        webhook={null}
        open={isCreating}
        onClose={() => setIsCreating(false)}
        onCreated={setSecret}
      />
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

interface ListProps {
  readonly query: {
    readonly data: readonly Webhook[] | undefined;
    readonly error: Error | null;
    readonly refetch: () => unknown;
  };
  readonly onSecret: (secret: string) => void;
  readonly onDeleted: () => void;
}

function List({ query: { data, error, refetch }, onSecret, onDeleted }: ListProps) {
  if (!data)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the webhooks" />
    );
  if (data.length === 0)
    return (
      <EmptyState title="No webhook yet">
        A webhook tells another system what happens on this board, for example a chat or a build server.
      </EmptyState>
    );
  return (
    <ul className="webhooks">
      {data.map((webhook) => (
        <WebhookItem key={webhook.id} webhook={webhook} onSecret={onSecret} onDeleted={onDeleted} />
      ))}
    </ul>
  );
}
