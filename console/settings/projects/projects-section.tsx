import { useRef, useState } from "react";
import { Link } from "wouter";
import { useProjects, useRead } from "../../api/reads.ts";
import type { Project } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { editorKeys } from "../../card/edit/editor-keys.ts";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { Field } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { ErrorState, Loading } from "../../components/states.tsx";
import { Problem } from "../problem.tsx";
import { SectionHead } from "../section-head.tsx";
import { useChange } from "../use-change.ts";
import { NewProject } from "./new-project.tsx";
import { problemOfName } from "./problem-of-name.ts";
import { cardsOf } from "../../text/counted.ts";

/** The projects of the board. */
export default function ProjectsSection() {
  const { board, keys } = useWorkspace();
  const {
    data: projects,
    error,
    refetch,
  } = useRead(keys.counted("projects"), "GET /v1/projects", {}, { all: true });
  const mayEdit = hasRole(board.role, "maintainer");
  if (!projects)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the projects" />
    );
  return (
    <>
      <SectionHead
        title="Projects"
        about="Each project has its own flow and repositories. Labels, features, pages and members belong to the board."
      />
      <ul className="settings-rows">
        {projects.map((project) => (
          <Row key={project.id} project={project} isOnly={projects.length === 1} mayEdit={mayEdit} />
        ))}
      </ul>
      {mayEdit ? (
        <NewProject projects={projects} />
      ) : (
        <p className="settings-note">Maintainers of the board can create and change projects.</p>
      )}
    </>
  );
}

interface RowProps {
  readonly project: Project;
  /** Whether the board has no other project. */
  readonly isOnly: boolean;
  readonly mayEdit: boolean;
}

function Row({ project, isOnly, mayEdit }: RowProps) {
  const { base } = useWorkspace();
  const [isEditing, setIsEditing] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const { id, name, slug, description, taskCount, repositoryCount } = project;
  const close = (): void => {
    setIsEditing(false);
    setTimeout(() => editButton.current?.focus());
  };
  if (isEditing) return <EditProject project={project} onClose={close} />;
  const at = (section: string): string => `${base}/settings/${section}?project=${encodeURIComponent(slug)}`;
  return (
    <li className="settings-row">
      <div className="settings-row-text">
        <strong dir="auto">{name}</strong> <span className="mono settings-faint">{slug}</span>
        {description !== "" && <p dir="auto">{description}</p>}
        <p className="settings-faint">
          {cardsOf(taskCount)}, <Link href={at("flow")}>flow</Link>,{" "}
          <Link href={at("repositories")}>
            {repositoryCount === 1 ? "1 repository" : `${repositoryCount} repositories`}
          </Link>
        </p>
        <p className="settings-faint settings-id">
          ID <span className="mono">{id}</span>
          <CopyButton kind="quiet" text={id} label="Copy" of={`the ID of ${name}`} />
        </p>
      </div>
      {mayEdit && (
        <div className="settings-row-actions">
          <Button
            kind="quiet"
            ref={editButton}
            aria-label={`Edit ${name}`}
            onClick={() => setIsEditing(true)}
          >
            <Icon name="edit" />
          </Button>
          <DeleteProject project={project} isOnly={isOnly} />
        </div>
      )}
    </li>
  );
}

function EditProject({ project, onClose }: { readonly project: Project; readonly onClose: () => void }) {
  const { keys } = useWorkspace();
  const [name, setName] = useState(project.name);
  const [slug, setSlug] = useState(project.slug);
  const [description, setDescription] = useState(project.description);
  const { run, isBusy, error } = useChange("PATCH /v1/projects/{projectId}", keys.list("projects"));
  const { data: projects = [] } = useProjects();
  const problem = problemOfName(
    name,
    projects.filter(({ id }) => id !== project.id),
  );
  const save = async (): Promise<void> => {
    if (problem !== null) return;
    const body = {
      ...(name !== project.name && { name }),
      ...(slug !== project.slug && { slug }),
      ...(description !== project.description && { description }),
    };
    if (await run({ path: { projectId: project.id }, body }, "Project saved")) onClose();
  };
  return (
    <li className="settings-row">
      <form
        className="settings-form"
        aria-label={`Edit ${project.name}`}
        onKeyDown={editorKeys({ onSave: () => void save(), onCancel: onClose })}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          label="Name"
          autoFocus
          value={name}
          maxLength={80}
          dir="auto"
          error={problem ?? undefined}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label="Slug"
          hint="In addresses. Bookmarks with the old slug stop working"
          value={slug}
          maxLength={50}
          onChange={(event) => setSlug(event.target.value)}
        />
        <Field
          label="Description"
          value={description}
          maxLength={20_000}
          dir="auto"
          onChange={(event) => setDescription(event.target.value)}
        />
        <Problem error={error} />
        <div className="form-actions">
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Save
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </li>
  );
}

function DeleteProject({ project, isOnly }: Omit<RowProps, "mayEdit">) {
  const { id, name } = project;
  const { keys } = useWorkspace();
  const [isAsking, setIsAsking] = useState(false);
  const { run, isBusy, error, reset } = useChange("DELETE /v1/projects/{projectId}", keys.list("projects"));
  const obstacle = obstacleTo(project, isOnly);
  const close = (): void => {
    setIsAsking(false);
    reset();
  };
  return (
    <>
      <Button kind="quiet" aria-label={`Delete ${name}`} onClick={() => setIsAsking(true)}>
        <Icon name="close" />
      </Button>
      <Confirm
        open={isAsking}
        title={`Delete ${name}?`}
        action="Delete the project"
        isUnavailable={obstacle !== null}
        isBusy={isBusy}
        error={error}
        onCancel={close}
        onConfirm={() =>
          void run({ path: { projectId: id } }, `${name} deleted`).then((done) => done && close())
        }
      >
        <p>
          {obstacle ??
            "Its flow and releases are deleted, and its repositories become available to other projects."}
        </p>
      </Confirm>
    </>
  );
}

/** Why the service would refuse to delete the project, and what to do about it. */
function obstacleTo({ taskCount }: Project, isOnly: boolean): string | null {
  if (taskCount > 0)
    return `It holds ${cardsOf(taskCount)}. Delete ${taskCount === 1 ? "it" : "them"} first, each on its own page.`;
  return isOnly ? "It is the only project of this board. Create another one before you delete it." : null;
}
