import { Badge } from "../components/badge.tsx";
import { Ago } from "../text/time.tsx";
import { Failures } from "./failures.tsx";
import type { Overview } from "./operations-api.ts";
import { WideTable } from "./wide-table.tsx";

/** Jobs that failed at their last attempt. */
export const FailedJobs = ({ failedJobs, waiting }: Pick<Overview, "failedJobs" | "waiting">) => (
  <Failures
    id="failed-jobs"
    title="Failed jobs"
    empty="A job that failed at its last attempt appears here."
    items={failedJobs}
    count={waiting.failedJobs}
    what="jobs"
    show={({ id, task, attempts, error, failedAt }) => (
      <li key={id}>
        <div className="operations-text">
          <p>
            <strong>{task}</strong>, {attempts} attempts, the last <Ago at={failedAt} />
          </p>
          {error !== null && (
            <p className="operations-error" dir="auto">
              {error}
            </p>
          )}
        </div>
      </li>
    )}
  />
);

/** The queue of jobs by task. */
export const Tasks = ({ tasks }: Pick<Overview, "tasks">) => (
  <section className="operations-part" aria-labelledby="jobs">
    <h2 id="jobs">Jobs</h2>
    {tasks.length === 0 ? (
      <p className="operations-about">The queue is empty.</p>
    ) : (
      <WideTable label="Jobs by task" columns={["Task", "Due", "Running", "Later", "Failed"]}>
        {tasks.map(({ task, due, running, later, failed }) => (
          <tr key={task}>
            <th scope="row">{task}</th>
            <td>{due}</td>
            <td>{running}</td>
            <td>{later}</td>
            <td>{failed > 0 ? <Badge tone="danger">{failed}</Badge> : 0}</td>
          </tr>
        ))}
      </WideTable>
    )}
  </section>
);
