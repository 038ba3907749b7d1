import type { ReactNode } from "react";
import { Link } from "wouter";
import { useRead } from "../api/reads.ts";
import type { Project } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Refusal } from "../card-chip/refusal.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { Ago } from "../text/time.tsx";
import { LandingItem } from "./row-table.tsx";
import type { Report } from "./series.ts";
import { useOpen, type Opened } from "./use-open.ts";

interface Props {
  readonly report: Report;
  readonly project: Project;
  readonly asked: Opened | null;
}

/** What is behind the numbers that no chart shows. */
export function Lists({ report, project, asked }: Props) {
  const reverts = report.landings.filter((landing) => landing.reverts !== null);
  return (
    <>
      <Foldable id="refusals" title="Refused moves" asked={asked}>
        <Refusals report={report} project={project} />
      </Foldable>
      <Foldable id="reverts" title="Reverts" asked={asked}>
        {reverts.length === 0 ? (
          <p className="trunk-empty">Nothing was reverted in these days.</p>
        ) : (
          <ul className="trunk-items">
            {reverts.map((landing) => (
              <LandingItem key={landing.sha} landing={landing} />
            ))}
          </ul>
        )}
      </Foldable>
    </>
  );
}

interface FoldableProps {
  readonly id: string;
  readonly title: string;
  readonly asked: Opened | null;
  readonly children: ReactNode;
}

function Foldable({ id, title, asked, children }: FoldableProps) {
  const { frame, isOpen, details } = useOpen<HTMLDetailsElement>(id, asked);
  return (
    <details className="trunk-list trunk-details" id={id} ref={frame} {...details}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  );
}

/** The moves that GitHub or a gate refused, with their words. */
function Refusals({ report: { from, to }, project }: Pick<Props, "report" | "project">) {
  const { base, keys } = useWorkspace();
  const { data, error, refetch } = useRead(
    keys.trunk(project.id, from, to, "refusals"),
    "GET /v1/trunk/refusals",
    { query: { projectId: project.id, from, to } },
    { all: true, staleTime: 0 },
  );
  if (!data)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="refused moves" />
    );
  if (data.length === 0) return <p className="trunk-empty">No move was refused in these days.</p>;
  return (
    <ul className="trunk-items">
      {data.map(({ id, number, title, refusal }) => (
        <li key={id} data-refusal={number}>
          <Link href={`${base}/cards/${number}`} dir="auto">
            #{number} {title}
          </Link>{" "}
          <span className="trunk-note">
            <Ago at={refusal.at} />
          </span>
          <Refusal blocked={refusal} />
        </li>
      ))}
    </ul>
  );
}
