import { useEffect, useRef, useState, type RefObject } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { Project } from "../../api/schema.d.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Select } from "../../components/select.tsx";
import { Problem } from "../problem.tsx";
import { problemOfName } from "./problem-of-name.ts";
import { useChange } from "../use-change.ts";

/** The form for a project, which begins with a copy of a flow. Its own flow opens next. */
export function NewProject({ projects }: { readonly projects: readonly Project[] }) {
  const { base, board, keys } = useWorkspace();
  const [, navigate] = useLocation();
  const { text: name, setText: setName, clear } = useDraft(`new-project:${board.workspaceId}`);
  const [isTried, setIsTried] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useFocusIfWanted(field);
  const [flowFrom, setFlowFrom] = useState(projects[0]?.id ?? "");
  const { run, isBusy, error } = useChange("POST /v1/projects", keys.list("projects"));
  const problem = problemOfName(name, projects);
  const create = async (): Promise<void> => {
    setIsTried(true);
    if (problem !== null) {
      field.current?.focus();
      return;
    }
    const created = await run(
      { body: { name: name.trim(), ...(flowFrom && { flowFrom }) } },
      "Project created",
    );
    if (!created) return;
    clear();
    navigate(`${base}/settings/flow?project=${encodeURIComponent(created.data.slug)}`);
  };
  return (
    <form
      className="settings-form settings-new"
      aria-labelledby="new-project"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <h2 id="new-project">New project</h2>
      <div className="settings-fields">
        <Field
          label="Name of the new project"
          value={name}
          maxLength={80}
          dir="auto"
          ref={field}
          error={isTried && problem !== null ? problem : undefined}
          onChange={(event) => setName(event.target.value)}
        />
        <Select
          label="Begin with the flow of"
          value={flowFrom}
          choices={projects.map((project) => [project.id, project.name] as const)}
          onChoose={setFlowFrom}
        />
      </div>
      {projects.length === 1 && (
        <p className="settings-note">
          With a second project, API calls for one project, such as <code>GET /v1/board</code>, are refused
          without <code>projectId</code>. Add it to your agents and scripts first.
        </p>
      )}
      <Problem error={error} />
      <div className="form-actions">
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Create the project
        </Button>
      </div>
    </form>
  );
}

/** Puts the focus into the field if the address says so (`?new=project`), as a link of the top bar does. */
function useFocusIfWanted(field: RefObject<HTMLInputElement | null>): void {
  const [search, setSearch] = useSearchParams();
  const isWanted = search.get("new") === "project";
  useEffect(() => {
    if (!isWanted) return;
    field.current?.focus();
    setSearch(
      (params) => {
        params.delete("new");
        return params;
      },
      { replace: true },
    );
  }, [isWanted, field, setSearch]);
}
