import { Link } from "wouter";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import type { MoveState } from "./moves/move.ts";
import { useAddress } from "../shell/use-project.ts";

interface Props {
  readonly move: MoveState | undefined;
  readonly statusId: string;
  readonly isChecking: boolean;
  readonly isBlocked: boolean;
  /** The name of the stage that the pending card was in. */
  readonly fromName: string | undefined;
  readonly number: number;
  readonly onRetry: () => void;
  readonly onDismiss: () => void;
}

/** What a card shows of its newest move besides a refusal: that it is pending, queued, or failed. */
export function CardNotice({ move, statusId, isChecking, isBlocked, fromName, number, ...on }: Props) {
  if (isChecking) return <Pending>Checking what the move would do …</Pending>;
  if (move && move.outcome === null && move.request.usesGit)
    return (
      <Pending>
        Moving to {move.request.stageName} …{fromName !== undefined && ` It was in ${fromName}.`}
      </Pending>
    );
  if (isBlocked) return <InboxLink number={number} />;
  const outcome = move?.outcome;
  if (!move || !outcome || outcome.state === "moved" || outcome.shownIn !== statusId) return null;
  if (outcome.state === "queued")
    return (
      <Pending>
        GitHub has accepted the merge{outcome.queued[0] && ` into ${outcome.queued[0].targetBranch}`}. Moves
        to {move.request.stageName} when it is merged.
      </Pending>
    );
  if (outcome.state === "refused" || outcome.state === "armed") return null;
  return (
    <div className="card-notice card-notice-failed">
      <p className="card-notice-head">
        <Icon name="alert" /> Not moved to {move.request.stageName}
      </p>
      <p className="card-notice-words" dir="auto">
        {outcome.message}
      </p>
      <div className="card-notice-actions">
        {outcome.canRetry && <Button onClick={on.onRetry}>Try again</Button>}
        <Button kind="quiet" onClick={on.onDismiss}>
          Dismiss
        </Button>
      </div>
    </div>
  );
}

const Pending = ({ children }: { readonly children: React.ReactNode }) => (
  <p className="card-notice card-notice-pending">
    <span className="spinner" aria-hidden="true" />
    <span>{children}</span>
  </p>
);

const InboxLink = ({ number }: { readonly number: number }) => {
  const addressOf = useAddress();
  return (
    <Link className="card-notice-link" href={addressOf("/inbox", { card: String(number) })} draggable={false}>
      Decide in the inbox
    </Link>
  );
};
