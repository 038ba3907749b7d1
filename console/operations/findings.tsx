import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { counted } from "../text/counted.ts";
import { useOperations, type Finding } from "./operations-api.ts";

const TONES = { ok: "success", warning: "warning", problem: "danger" } as const;
const RANKS = { problem: 0, warning: 1, ok: 2 } as const;

/** What `trunkline doctor` finds: problems first, and what is in order on demand. */
export function Findings() {
  const { data, error, refetch, isFetching } = useOperations("findings", null);
  const found = (data ?? []).toSorted((one, other) => RANKS[one.state] - RANKS[other.state]);
  const bad = found.filter(({ state }) => state !== "ok");
  const fine = found.filter(({ state }) => state === "ok");
  return (
    <section className="operations-part" aria-labelledby="findings">
      <div className="operations-head">
        <h2 id="findings">Checks</h2>
        <Button isBusy={isFetching} onClick={() => void refetch()}>
          Check again
        </Button>
      </div>
      {!data && !error && <Loading what="the checks, which ask GitHub" />}
      {error && <ErrorState error={error} />}
      {data && bad.length === 0 && <p className="operations-about">No problem was found.</p>}
      {bad.length > 0 && <List findings={bad} label="Problems and warnings" />}
      {fine.length > 0 && (
        <details>
          <summary>{counted(fine.length, "check")} without a problem</summary>
          <List findings={fine} label="Checks without a problem" />
        </details>
      )}
    </section>
  );
}

const List = ({ findings, label }: { readonly findings: readonly Finding[]; readonly label: string }) => (
  <ul className="operations-list" aria-label={label}>
    {findings.map(({ about, state, message, advice }) => (
      <li key={`${about} ${message}`}>
        <Badge tone={TONES[state]}>{state}</Badge>
        <div className="operations-text">
          <p dir="auto">
            <strong>{about}:</strong> {message}
          </p>
          {advice !== undefined && <p className="operations-about">{advice}</p>}
        </div>
      </li>
    ))}
  </ul>
);
