import { useMemo } from "react";
import { Link } from "wouter";
import type { Session } from "../api/session.ts";
import { buttonClass } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { Brand } from "../shell/brand.tsx";
import { useTitle } from "../shell/use-title.ts";
import { FailedJobs, Tasks } from "./jobs.tsx";
import { Findings } from "./findings.tsx";
import { Installations } from "./installations.tsx";
import { createOperationsClient, OperationsClient, useOperations } from "./operations-api.ts";
import "./operations.css";
import { Parked } from "./parked.tsx";
import { Lag, Processes } from "./summary.tsx";

/** How often the numbers are read again, in milliseconds. */
const REREAD_MS = 5_000;

interface Props {
  readonly session: Session;
  readonly onSignedOut: () => void;
}

/** The state of the service, for its operators. It shows no texts of boards. */
export default function OperationsScreen({ session, onSignedOut }: Props) {
  const client = useMemo(() => createOperationsClient(onSignedOut), [onSignedOut]);
  useTitle("Operations");
  return (
    <OperationsClient value={client}>
      <a className="skip-link" href="#main">
        Skip to the page
      </a>
      <header className="top-bar">
        <Link href="/" className="top-bar-brand">
          <Brand isShort />
        </Link>
        <Link href="/" className={buttonClass("quiet")}>
          <Icon name="board" />
          Boards
        </Link>
        <span className="operations-who">
          <bdi>{session.user.login}</bdi> · operator
        </span>
      </header>
      <main id="main" className="operations" tabIndex={-1}>
        <h1>Operations</h1>
        <Findings />
        <Numbers />
        <Installations />
      </main>
    </OperationsClient>
  );
}

function Numbers() {
  const { data: overview, error, refetch } = useOperations("overview", REREAD_MS);
  if (!overview)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the overview" />
    );
  return (
    <>
      {error && (
        <p className="operations-problem" role="status">
          The numbers below are old: the service does not respond.
        </p>
      )}
      <Lag overview={overview} />
      <Parked {...overview} />
      <FailedJobs {...overview} />
      <Tasks tasks={overview.tasks} />
      <Processes overview={overview} />
    </>
  );
}
