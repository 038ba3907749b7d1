import { useEffect, useRef } from "react";
import { useFlow } from "../../api/reads.ts";
import type { Flow, Project } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { EmptyState, ErrorState, Loading } from "../../components/states.tsx";
import { NoRepository, useRepositoriesOf } from "../../shell/no-repository.tsx";
import { useProject } from "../../shell/use-project.ts";
import { SectionHead } from "../section-head.tsx";
import { useMissingBranches } from "../repositories/use-missing-branches.ts";
import { describeMissing } from "./describe-changes.ts";
import { draftOf, targetsOf } from "./draft.ts";
import { Effects } from "./effects.tsx";
import { FlowDiagram } from "./flow-diagram.tsx";
import { FlowEditor } from "./flow-editor.tsx";
import { SettingsList } from "./settings-list.tsx";
import { useFlowEdit } from "./use-flow-edit.ts";
import "./flow.css";

/** The stages of the project that is chosen in the top bar, and its settings. */
export default function FlowSection() {
  const { project, error, isLoading } = useProject();
  if (error) return <ErrorState error={error} />;
  if (isLoading) return <Loading what="the flow" />;
  return project ? (
    <OfProject key={project.id} project={project} />
  ) : (
    <EmptyState title="This board has no project yet" />
  );
}

function OfProject({ project }: { readonly project: Project }) {
  const { data: flow, error, refetch } = useFlow(project.id);
  if (flow) return <FlowPage project={project} flow={flow} />;
  return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="the flow" />;
}

function FlowPage({ project, flow }: { readonly project: Project; readonly flow: Flow }) {
  const { board } = useWorkspace();
  const edit = useFlowEdit(project, flow);
  const mayEdit = hasRole(board.role, "maintainer");
  const isEditing = edit.edit !== null && mayEdit;
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(isEditing);
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  const shown = draftOf(flow);
  const warnings = describeMissing(shown, useMissingBranches(project.id, targetsOf(shown)));
  const isLacking = useRepositoriesOf(project.id)?.length === 0;
  return (
    <>
      <SectionHead
        title="Flow"
        about={
          <>
            The stages of <bdi>{project.name}</bdi> in order, and what happens on GitHub when a card enters
            one.
          </>
        }
      >
        {mayEdit && !isEditing && (
          <Button ref={editButton} onClick={() => edit.open()}>
            <Icon name="edit" />
            Edit the flow
          </Button>
        )}
      </SectionHead>
      {isLacking && (
        <p className="settings-caution flow-caution">
          <NoRepository />
        </p>
      )}
      {isEditing ? (
        <FlowEditor project={project} flow={edit} />
      ) : (
        <>
          {warnings.length > 0 && <Effects effects={warnings} />}
          <FlowDiagram projectId={project.id} stages={shown.stages} />
          <SettingsList settings={shown.settings} />
        </>
      )}
      {!mayEdit && <p className="settings-note">Maintainers of the board can change the flow.</p>}
    </>
  );
}
