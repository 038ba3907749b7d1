import { ErrorState, Loading } from "../../components/states.tsx";

interface WaitingProps {
  readonly what: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}

/** Shown until a list is loaded. */
export const Waiting = ({ what, error, onRetry }: WaitingProps) =>
  error ? <ErrorState error={error} onRetry={onRetry} /> : <Loading what={what} />;
