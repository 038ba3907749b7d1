import type { ReactNode } from "react";
import { messageOf } from "../api/problem.ts";
import { Button } from "./button.tsx";
import "./states.css";

/** What an empty list shows, and how to add something. */
export const EmptyState = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}) => (
  <div className="state">
    <h2>{title}</h2>
    {children !== undefined && <div className="state-text">{children}</div>}
  </div>
);

/** While data is read. It appears only if that takes noticeably long. */
export const Loading = ({ what }: { readonly what: string }) => (
  <div className="state state-loading" role="status">
    Loading {what}…
  </div>
);

interface ErrorProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** A read that failed, with the service's own sentence. */
export const ErrorState = ({ error, onRetry }: ErrorProps) => (
  <div className="state" role="alert">
    <h2>This could not be loaded</h2>
    <p className="state-text">{messageOf(error)}</p>
    {onRetry && <Button onClick={onRetry}>Try again</Button>}
  </div>
);
