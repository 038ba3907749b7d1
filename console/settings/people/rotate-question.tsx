import { useState } from "react";
import { messageOf } from "../../api/problem.ts";
import type { ApiKey, IssuedApiKey } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog/dialog.tsx";
import { Select } from "../../components/select.tsx";
import { useChange } from "../use-change.ts";
import { daysOf, earlierExpiries, type Expiry } from "./expiry.ts";

const KEEP_CHOICES = [
  ["24", "For 24 more hours"],
  ["1", "For one more hour"],
  ["0", "0 hours: it is invalid immediately"],
] as const;

interface Props {
  readonly apiKey: ApiKey;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onRotated: (key: IssuedApiKey) => void;
}

/** Asks how long the previous key stays valid, and replaces it. */
export function RotateQuestion({ apiKey, open, onClose, onRotated }: Props) {
  const { id, name, owner } = apiKey;
  const { keys } = useWorkspace();
  const [keep, setKeep] = useState<(typeof KEEP_CHOICES)[number][0]>("24");
  const [expiry, setExpiry] = useState<Expiry | "same">("same");
  const { run, isBusy, error, reset } = useChange(
    "POST /console/v1/credentials/{id}/rotate",
    keys.people("keys"),
  );
  const close = (): void => {
    reset();
    onClose();
  };
  const rotate = async (): Promise<void> => {
    const body = {
      keepHours: Number(keep),
      ...(expiry !== "same" && { expiresInDays: daysOf(expiry) }),
    };
    const received = await run({ path: { id }, body }, `${name} has a new key. It is shown once.`);
    if (received) onRotated(received.data);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && close()}
      title={`Rotate ${name}?`}
      description={`The new key has the same name, role and scopes. It is shown once.${owner ? "" : " You own it then."}`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void rotate()}>
            Rotate the key
          </Button>
        </>
      }
    >
      <div className="key-fields">
        <Select label="The previous key works" value={keep} choices={KEEP_CHOICES} onChoose={setKeep} />
        <Select
          label="The new key expires"
          value={expiry}
          choices={[["same", "As the previous one"], ...earlierExpiries(apiKey.expiresAt)]}
          onChoose={setExpiry}
        />
      </div>
      {error && (
        <p className="confirm-problem" role="alert">
          {messageOf(error)}
        </p>
      )}
    </Dialog>
  );
}
