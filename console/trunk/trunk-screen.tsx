import { useMemo, useState } from "react";
import { useRead } from "../api/reads.ts";
import type { Project, TrunkReport } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { EmptyState, ErrorState, Loading } from "../components/states.tsx";
import { useReleases } from "../releases/reads.ts";
import { useBoardTitle, useProject } from "../shell/use-project.ts";
import { Chart } from "./chart.tsx";
import { Lists } from "./lists.tsx";
import { Numbers } from "./numbers.tsx";
import { RangeBar } from "./range-bar.tsx";
import { useRange } from "./range.ts";
import {
  landingsOverTime,
  leadTimes,
  markEarlier,
  ofRepository,
  outsideLandings,
  promises,
  repositoriesOf,
} from "./series.ts";
import "./trunk.css";
import type { Opened } from "./use-open.ts";

/** How often the report is read again, in milliseconds. */
const REPEAT_MS = 60_000;

/** What was delivered, promised and landed, in numbers, charts and lists. */
export default function TrunkScreen() {
  const { project, error, isLoading } = useProject();
  useBoardTitle("Trunk", true);
  if (error) return <ErrorState error={error} />;
  if (isLoading) return <Loading what="the report" />;
  return project ? <Trunk project={project} /> : <EmptyState title="This board has no project yet" />;
}

function Trunk({ project }: { readonly project: Project }) {
  const { keys } = useWorkspace();
  const range = useRange();
  const { from, to, repository } = range;
  const query = {
    projectId: project.id,
    ...(from !== null && { from }),
    ...(to !== null && { to }),
  };
  // Pushes to a trunk are not in the feed.
  const { data, error, refetch } = useRead(
    keys.trunk(project.id, from ?? "", to ?? ""),
    "GET /v1/trunk",
    { query },
    { staleTime: 0, everyMs: () => REPEAT_MS },
  );
  const names = [...new Set([...(data ? repositoriesOf(data) : []), ...(repository ? [repository] : [])])];
  return (
    <div className="trunk">
      <h1>Trunk</h1>
      <RangeBar range={range} shown={data} repositories={names} />
      {data ? (
        <Report
          key={`${data.from} ${data.to} ${repository}`}
          project={project}
          whole={data}
          repository={repository}
        />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading what="the report" />
      )}
    </div>
  );
}

interface ReportProps {
  readonly project: Project;
  readonly whole: TrunkReport;
  readonly repository: string | null;
}

function Report({ project, whole, repository }: ReportProps) {
  const [asked, setAsked] = useState<Opened | null>(null);
  const { data: releases = [] } = useReleases(project.id);
  const charts = useMemo(() => {
    const marked = markEarlier(whole, project);
    const report = repository === null ? marked : ofRepository(marked, repository);
    const all = [
      landingsOverTime(report),
      leadTimes(report),
      promises(report, releases),
      outsideLandings(report),
    ];
    return { report, all };
  }, [whole, project, releases, repository]);
  return (
    <>
      <Numbers report={charts.report} repository={repository} onOpen={setAsked} />
      <div className="trunk-charts">
        {charts.all.map((chart) => (
          <Chart key={chart.id} chart={chart} asked={asked} onOpen={setAsked} />
        ))}
      </div>
      <Lists report={charts.report} project={project} asked={asked} />
    </>
  );
}
