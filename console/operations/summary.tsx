import { Badge } from "../components/badge.tsx";
import { Ago } from "../text/time.tsx";
import type { Overview } from "./operations-api.ts";
import { bytesText, secondsText } from "./units.ts";
import { WideTable } from "./wide-table.tsx";

/** How far the work of the service is behind. */
export function Lag({ overview: { lag, waiting } }: { readonly overview: Overview }) {
  const rows = [
    { key: "deliveries", name: "GitHub's webhooks", note: `${waiting.deliveries} waiting` },
    { key: "jobs", name: "Jobs", note: `${waiting.jobs} due` },
    { key: "events", name: "Event feed", note: "events without a number" },
    { key: "webhooks", name: "Outgoing webhooks", note: `${waiting.webhooksPaused} paused after failures` },
    { key: "auditChain", name: "Chain of the audit log", note: "attempts that are not in it" },
  ] as const;
  return (
    <section className="operations-part" aria-labelledby="lag">
      <h2 id="lag">Lag</h2>
      <dl className="lag">
        {rows.map(({ key, name, note }) => (
          <div key={key} data-late={lag[key].isLate || undefined}>
            <dt>{name}</dt>
            <dd>
              <strong>{secondsText(lag[key].seconds)}</strong>{" "}
              {lag[key].isLate && <Badge tone="danger">late</Badge>}
              <span>{note}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The version, the processes and the database. */
export function Processes({ overview: { version, processes, database } }: { readonly overview: Overview }) {
  return (
    <section className="operations-part" aria-labelledby="processes">
      <h2 id="processes">Processes and database</h2>
      <p>
        This page is served by version {version}. The database {database.name} is PostgreSQL{" "}
        {database.version}, {bytesText(database.bytes)}, with {database.connections} of{" "}
        {database.maxConnections} connections.
      </p>
      <WideTable label="Processes" columns={["Process", "Version", "Started", "Last heartbeat"]}>
        {processes.map(({ id, version: own, startedAt, seenAt, isAlive }) => (
          <tr key={id}>
            <th scope="row">
              <span className="mono">{id.slice(-12)}</span>{" "}
              {isAlive ? <Badge tone="success">alive</Badge> : <Badge tone="danger">dead</Badge>}
            </th>
            <td>{own ?? "unknown"}</td>
            <td>
              <Ago at={startedAt} />
            </td>
            <td>
              <Ago at={seenAt} />
            </td>
          </tr>
        ))}
      </WideTable>
    </section>
  );
}
