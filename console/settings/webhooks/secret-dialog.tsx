import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog/dialog.tsx";
import { CopyButton } from "../../components/copy-button.tsx";

interface Props {
  /** Null while no secret is shown. */
  readonly secret: string | null;
  readonly onClose: () => void;
}

/** Shows a new secret, which no later response has. Only its own button closes the dialog. */
export function SecretDialog({ secret, onClose }: Props) {
  return (
    <Dialog
      open={secret !== null}
      onOpenChange={() => undefined}
      isFirm
      isWide
      title="The secret of the webhook"
      description="It verifies the signatures. Store it in the receiver now: it is shown only this once."
      actions={
        <>
          <CopyButton text={secret ?? ""} label="Copy" />
          <Button kind="primary" onClick={onClose}>
            I have stored it
          </Button>
        </>
      }
    >
      <code className="webhook-secret">{secret}</code>
    </Dialog>
  );
}
