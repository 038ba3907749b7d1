import { useState } from "react";
import { useProjects } from "../../api/reads.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { EmptyState, ErrorState, Loading } from "../../components/states.tsx";
import { Ago } from "../../text/time.tsx";
import { SectionHead } from "../section-head.tsx";
import { NewMonitorForm } from "./new-monitor.tsx";
import { useMonitors, useRemoveMonitor, type Monitor } from "./use-monitors.ts";
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
              , created <Ago at={monitor.createdAt} />
            </span>
            <p className="mono">{monitor.url}</p>
          </div>
          <Remove monitor={monitor} />
        </li>
      ))}
    </ul>
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
