import { useEffect, useRef, useState } from "react";
import { useProjects } from "../../api/reads.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Select } from "../../components/select.tsx";
import { useProject } from "../../shell/use-project.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Problem } from "../problem.tsx";
import { useCreateMonitor, type NewMonitor } from "./use-monitors.ts";

/** The form for a monitor, then its secret, which is shown this once. */
export function NewMonitorForm() {
  const { board } = useWorkspace();
  const toast = useToast();
  const { project } = useProject();
  const { data: projects = [] } = useProjects();
  const { text: name, setText: setName, clear } = useDraft(`new-monitor:${board.workspaceId}`);
  const [chosen, setChosen] = useState<string | null>(null);
  const [created, setCreated] = useState<NewMonitor | null>(null);
  const { mutate, isPending, error } = useCreateMonitor();
  const projectId = chosen ?? project?.id ?? "";
  if (created) return <MonitorSecret monitor={created} title="is created" onClose={() => setCreated(null)} />;
  const create = (): void => {
    if (name.trim() === "" || isPending) return;
    mutate(
      { name: name.trim(), projectId },
      {
        onSuccess: (monitor) => {
          clear();
          setCreated(monitor);
          toast({ title: "Monitor created. Its secret is shown once." });
        },
      },
    );
  };
  return (
    <form
      className="settings-form settings-new"
      aria-labelledby="new-monitor"
      onSubmit={(event) => {
        event.preventDefault();
        create();
      }}
    >
      <h2 id="new-monitor">New monitor</h2>
      <div className="settings-fields">
        <Field
          label="Name of the new monitor"
          hint="It appears in the inbox"
          value={name}
          maxLength={80}
          dir="auto"
          onChange={(event) => setName(event.target.value)}
        />
        <Select
          label="Reports to"
          value={projectId}
          choices={projects.map((each) => [each.id, each.name] as const)}
          onChoose={setChosen}
        />
      </div>
      <Problem error={error} />
      <div className="form-actions">
        <Button kind="primary" type="submit" isBusy={isPending}>
          Create the monitor
        </Button>
      </div>
    </form>
  );
}

interface SecretProps {
  readonly monitor: NewMonitor;
  /** What happened to the monitor. */
  readonly title: string;
  readonly onClose: () => void;
}

/** The address and the secret of a monitor, which is shown this once. */
export function MonitorSecret({ monitor: { name, id, url, secret }, title, onClose }: SecretProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="settings-new monitor-secret" aria-labelledby="monitor-secret">
      <h2 id="monitor-secret" tabIndex={-1} ref={heading}>
        <bdi>{name}</bdi> {title}
      </h2>
      <p>Send reports to this address, signed with this secret. The secret is not shown again.</p>
      <dl>
        <dt>Address</dt>
        <dd className="mono">{url}</dd>
        <dt>Secret</dt>
        <dd className="mono">{secret}</dd>
      </dl>
      <p className="settings-faint">
        If the sender chooses the secret, as Sentry does, an operator sets it with{" "}
        <code>trunkline monitor secret {id}</code>.
      </p>
      <div className="form-actions">
        <CopyButton text={secret} label="Copy the secret" />
        <Button kind="primary" onClick={onClose}>
          I have stored the secret
        </Button>
      </div>
    </section>
  );
}
