import { useState } from "react";
import { useProjects } from "../../api/reads.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { EmptyState, ErrorState, Loading } from "../../components/states.tsx";
import { Ago } from "../../text/time.tsx";
import { SectionHead } from "../section-head.tsx";
import { MonitorSecret, NewMonitorForm } from "./new-monitor.tsx";
import { useMonitors, useRemoveMonitor, useRotateMonitor, type Monitor } from "./use-monitors.ts";
import "./monitors.css";

const ABOUT = "A monitor, such as Sentry, reports production errors to the inbox of a project.";

/** The monitors of the board. */
export default function MonitorsSection() {
  const { board } = useWorkspace();
  if (!hasRole(board.role, "maintainer"))
    return (
      <>
        <SectionHead title="Monitors" about={ABOUT} />
        <EmptyState title="Monitors are shown to maintainers only">
          What they report is in the inbox for everybody.
        </EmptyState>
      </>
    );
  return (
    <>
      <SectionHead title="Monitors" about={ABOUT} />
      <List />
      <NewMonitorForm />
    </>
  );
}

function List() {
  const { data: monitors, error, refetch } = useMonitors();
  const { data: projects = [] } = useProjects();
  if (!monitors)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the monitors" />
    );
  if (monitors.length === 0) return <p className="settings-faint">The board has no monitors yet.</p>;
  return (
    <ul className="settings-rows" aria-label="Monitors">
      {monitors.map((monitor) => (
        <li key={monitor.id} className="settings-row">
          <div className="settings-row-text">
            <strong dir="auto">{monitor.name}</strong>{" "}
            <span className="settings-faint">
              reports to <bdi>{projects.find(({ id }) => id === monitor.projectId)?.name ?? "a project"}</bdi>
              , created <Ago at={monitor.createdAt} /> by{" "}
              <bdi>{monitor.createdBy?.name ?? "the operator"}</bdi>
            </span>
            <p className="mono">{monitor.url}</p>
            {monitor.stoppedAt !== null && (
              <p>
                <Badge tone="danger">stopped</Badge> <Ago at={monitor.stoppedAt} />, because somebody who knew
                its secret left the board or is no maintainer any more. Replace the secret, also at the
                sender.
              </p>
            )}
          </div>
          <Rotate monitor={monitor} />
          <Remove monitor={monitor} />
        </li>
      ))}
    </ul>
  );
}

function Rotate({ monitor: { id, name } }: { readonly monitor: Monitor }) {
  const [isAsking, setIsAsking] = useState(false);
  const { mutate, isPending, error, data: rotated, reset } = useRotateMonitor();
  const close = (): void => {
    reset();
    setIsAsking(false);
  };
  if (rotated) return <MonitorSecret monitor={rotated} title="has a new secret" onClose={close} />;
  return (
    <>
      <Button kind="quiet" aria-label={`New secret for ${name}`} onClick={() => setIsAsking(true)}>
        New secret
      </Button>
      <Confirm
        open={isAsking}
        title={`Replace the secret of ${name}?`}
        action="Replace the secret"
        isBusy={isPending}
        error={error}
        onCancel={close}
        onConfirm={() => mutate({ id })}
      >
        <p>Reports are refused until the sender signs them with the new secret, which is shown once.</p>
      </Confirm>
    </>
  );
}

function Remove({ monitor: { id, name } }: { readonly monitor: Monitor }) {
  const toast = useToast();
  const [isAsking, setIsAsking] = useState(false);
  const { mutate, isPending, error, reset } = useRemoveMonitor();
  const close = (): void => {
    reset();
    setIsAsking(false);
  };
  const remove = (): void =>
    mutate(
      { id },
      {
        onSuccess: () => {
          toast({ title: `${name} removed` });
          close();
        },
      },
    );
  return (
    <>
      <Button kind="quiet" aria-label={`Remove ${name}`} onClick={() => setIsAsking(true)}>
        Remove
      </Button>
      <Confirm
        open={isAsking}
        title={`Remove ${name}?`}
        action="Remove the monitor"
        isBusy={isPending}
        error={error}
        onCancel={close}
        onConfirm={remove}
      >
        <p>Its reports are refused from now on. What it reported stays in the inbox.</p>
      </Confirm>
    </>
  );
}
