import type { RefObject } from "react";
import { messageOf } from "../api/problem.ts";
import { useAnnounce } from "../components/announcer.tsx";
import { Button } from "../components/button.tsx";
import { useRetry } from "./operations-api.ts";

interface Props {
  /** As in `useRetry`. */
  readonly what: string;
  readonly label: string;
  /** The whole name for assistive technology, if the label is not enough. */
  readonly name?: string;
  /** Gets the focus: the button may be gone then. */
  readonly heading: RefObject<HTMLElement | null>;
}

/** Retries at once. A failure is shown next to the button. */
export function RetryButton({ what, label, name, heading }: Props) {
  const announce = useAnnounce();
  const { mutate, error, isPending } = useRetry();
  const retry = (): void =>
    mutate(what, {
      onSuccess: (count) => {
        announce(count === 1 ? "1 is retried" : `${count} are retried`);
        heading.current?.focus();
      },
    });
  return (
    <span className="retry">
      <Button isBusy={isPending} aria-label={name} onClick={retry}>
        {label}
      </Button>
      {error && (
        <span className="operations-problem" role="alert">
          {messageOf(error)}
        </span>
      )}
    </span>
  );
}
