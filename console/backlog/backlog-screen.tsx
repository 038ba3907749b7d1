import { useBacklog, useFlow } from "../api/reads.ts";
import type { Project } from "../api/schema.d.ts";
import { EmptyState, ErrorState, Loading } from "../components/states.tsx";
import { useBoardTitle, useProject } from "../shell/use-project.ts";
import { Drafts } from "./drafts.tsx";
import "../board/board.css";
import "../board/moves.css";
import "./backlog.css";

/** The drafts of a project, most important first. */
export default function BacklogScreen() {
  const { project, error, isLoading } = useProject();
  useBoardTitle("Backlog", true);
  if (error) return <ErrorState error={error} />;
  if (isLoading) return <Loading what="the backlog" />;
  return project ? (
    <ProjectBacklog key={project.id} project={project} />
  ) : (
    <EmptyState title="This board has no project yet" />
  );
}

function ProjectBacklog({ project }: { readonly project: Project }) {
  const drafts = useBacklog(project.id);
  const flow = useFlow(project.id);
  const error = drafts.error ?? flow.error;
  const backlog = flow.data?.stages.find(({ kind }) => kind === "backlog");
  if (drafts.data && flow.data && backlog)
    return <Drafts project={project} backlog={backlog} drafts={drafts.data} stages={flow.data.stages} />;
  const retry = (): void => void Promise.all([drafts.refetch(), flow.refetch()]);
  return error ? <ErrorState error={error} onRetry={retry} /> : <Loading what="the backlog" />;
}
