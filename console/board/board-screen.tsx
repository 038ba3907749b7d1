import { useBoard, useRead } from "../api/reads.ts";
import type { Project } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { useBoardTitle, useProject } from "../shell/use-project.ts";
import { Columns } from "./columns.tsx";
import { NoProject } from "./empty-board.tsx";
import "./board.css";
import "./moves.css";

/** The columns of a project and their cards. */
export default function BoardScreen() {
  const { project, error, isLoading } = useProject();
  useBoardTitle("Board", true);
  if (error) return <ErrorState error={error} />;
  if (isLoading) return <Loading what="the board" />;
  return project ? <ProjectBoard key={project.id} project={project} /> : <NoProject />;
}

function ProjectBoard({ project }: { readonly project: Project }) {
  const { keys } = useWorkspace();
  const { data: board, error, refetch } = useBoard(project.id);
  const flow = useRead(keys.flow(project.id), "GET /v1/projects/{projectId}/flow", {
    path: { projectId: project.id },
  });
  const failed = error ?? flow.error;
  if (!board) {
    const retry = (): void => void refetch();
    return failed ? <ErrorState error={failed} onRetry={retry} /> : <Loading what="the board" />;
  }
  return (
    <>
      <h1 className="visually-hidden">{project.name}</h1>
      <Columns project={project} board={board} flow={flow.data} />
    </>
  );
}
