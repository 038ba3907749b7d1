import { useFlow } from "../api/reads.ts";
import type { Flow, Project } from "../api/schema.d.ts";
import { EmptyState, ErrorState, Loading } from "../components/states.tsx";
import { useBoardTitle, useProject } from "../shell/use-project.ts";
import { NewRelease } from "./new-release.tsx";
import { useReleases } from "./reads.ts";
import { ReleaseRow } from "./release-row.tsx";
import { TurnedOff } from "./turned-off.tsx";
import "./releases.css";

/** The releases of a project, newest first. */
export default function ReleasesScreen() {
  const { project, error, isLoading } = useProject();
  useBoardTitle("Releases", true);
  if (error) return <ErrorState error={error} />;
  if (isLoading) return <Loading what="the releases" />;
  return project ? <Releases project={project} /> : <EmptyState title="This board has no project yet" />;
}

function Releases({ project }: { readonly project: Project }) {
  const { data: flow, error: flowError, refetch: readFlow } = useFlow(project.id);
  const { data: releases, error, refetch } = useReleases(project.id);
  const failed = error ?? flowError;
  if (!releases || !flow)
    return failed ? (
      <ErrorState error={failed} onRetry={() => void Promise.all([refetch(), readFlow()])} />
    ) : (
      <Loading what="the releases" />
    );
  return (
    <div className="releases">
      <h1>Releases</h1>
      {flow.releases ? <NewRelease projectId={project.id} releases={releases} /> : <TurnedOff />}
      {releases.length === 0 && flow.releases ? (
        <EmptyState title="There are no releases yet">
          A release is a set of cards that ship together. Create one, add cards, freeze it when its scope is
          final, and complete it with tags and release notes.
        </EmptyState>
      ) : (
        <List releases={releases} flow={flow} />
      )}
    </div>
  );
}

interface ListProps {
  readonly releases: NonNullable<ReturnType<typeof useReleases>["data"]>;
  readonly flow: Flow;
}

const List = ({ releases, flow }: ListProps) => {
  const done = new Set(flow.stages.filter(({ kind }) => kind === "done").map(({ id }) => id));
  return (
    <ul className="release-list">
      {releases.map((release) => (
        <ReleaseRow key={release.id} release={release} doneStages={done} />
      ))}
    </ul>
  );
};
