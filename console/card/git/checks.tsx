import { messageOf } from "../../api/problem.ts";
import type { CheckRun, ChecksEntry } from "../../api/schema.d.ts";
import { Badge } from "../../components/badge.tsx";
import { Markdown } from "../../text/markdown.tsx";
import { ExternalLink } from "./external-link.tsx";
import type { LiveRead } from "./live-read.ts";

interface Props {
  readonly read: LiveRead<ChecksEntry>;
  readonly repository: string;
}

/** The checks of one repository: what fails with its notes, the others as a list. */
export function Checks({ read: { data, error }, repository }: Props) {
  const entry = data?.find((each) => each.repository === repository);
  if (!data && !error)
    return (
      <p className="live-state" role="status">
        Reading checks from GitHub…
      </p>
    );
  if (!entry) return error ? <p className="live-state live-problem">Checks: {messageOf(error)}</p> : null;
  if (entry.runs === null) return <p className="live-state live-problem">Checks: {entry.error}</p>;
  if (entry.runs.length === 0) return <p className="live-state">No check has reported.</p>;
  const failing = entry.runs.filter(({ state }) => state === "failing");
  const others = entry.runs.filter(({ state }) => state !== "failing");
  return (
    <div className="checks">
      <h4>Checks</h4>
      {failing.map((run) => (
        <Failing key={run.id} run={run} />
      ))}
      {others.length > 0 && (
        <ul className="check-list">
          {others.map((run) => (
            <li key={run.id} className="check-line">
              <Badge tone={TONES[run.state]}>{run.state}</Badge>
              <ExternalLink href={run.url}>
                <bdi>{run.name}</bdi>
              </ExternalLink>
              <Workflow run={run} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const TONES = { passing: "success", failing: "danger", pending: "warning", skipped: "neutral" } as const;

/** Tells runs of one name apart. */
const Workflow = ({ run: { workflow } }: { readonly run: CheckRun }) =>
  workflow ? (
    <span className="muted">
      <bdi>{workflow.name}</bdi> ({workflow.event})
    </span>
  ) : null;

const Failing = ({ run }: { readonly run: CheckRun }) => (
  <details className="check-failing" open>
    <summary>
      <Badge tone="danger">failing</Badge> <bdi>{run.name}</bdi> <Workflow run={run} />
    </summary>
    <div className="check-details">
      {run.summary !== null && run.summary !== "" && <Markdown text={run.summary} />}
      {run.notes.length > 0 && (
        <ul className="check-notes">
          {run.notes.map(({ path, line, level, message }) => (
            <li key={`${path} ${line} ${message}`} data-level={level}>
              <span className="mono check-note-place">
                {path}:{line}
              </span>
              <span dir="auto">{message}</span>
            </li>
          ))}
        </ul>
      )}
      {run.url !== null && <ExternalLink href={run.url}>Open the run</ExternalLink>}
    </div>
  </details>
);
