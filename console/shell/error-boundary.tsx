import { Component, type ReactNode } from "react";
import { Button } from "../components/button.tsx";

/** Shows that a page has failed, instead of nothing. */
export class ErrorBoundary extends Component<
  { readonly children: ReactNode },
  { readonly hasFailed: boolean }
> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <div className="state" role="alert">
        <h1>This page has stopped working</h1>
        <p className="state-text">
          Nothing was lost on the board. Load the page again; if that does not help, contact the operator of
          this service and describe what you did last.
        </p>
        <Button kind="primary" onClick={() => window.location.reload()}>
          Load again
        </Button>
      </div>
    );
  }
}
