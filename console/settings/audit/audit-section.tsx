import { useState } from "react";
import { addressOf } from "../../api/client.ts";
import { messageOf } from "../../api/problem.ts";
import type { Attempt } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { Button } from "../../components/button.tsx";
import { EmptyState, ErrorState, Loading } from "../../components/states.tsx";
import { AttemptRow } from "./attempt-row.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import "./audit.css";
import { queryOf, useFilters } from "./filters.ts";
import { saveFile } from "./save-file.ts";
import { useAudit, type AuditQuery } from "./use-audit.ts";

/** The audit log of the board. */
export default function AuditSection() {
  const { board } = useWorkspace();
  if (!hasRole(board.role, "maintainer"))
    return <EmptyState title="Audit log">Only maintainers see the audit log.</EmptyState>;
  return <AuditLog />;
}

function AuditLog() {
  const address = useFilters();
  const query = queryOf(address.filters);
  const { items, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isRefetching } =
    useAudit(query);
  return (
    <>
      <header className="audit-head">
        <div>
          <h1>Audit log</h1>
          <p className="audit-about">
            Each attempt to change something on this board, also a refused one, the newest first.
          </p>
        </div>
        <Button isBusy={isRefetching} onClick={() => void refetch()}>
          Refresh
        </Button>
        <Export query={query} />
      </header>
      <AuditFilters {...address} />
      {items ? (
        <Attempts attempts={items} isFiltered={address.isFiltered} onFilter={address.change} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading what="the audit log" />
      )}
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show earlier attempts
        </Button>
      )}
    </>
  );
}

interface AttemptsProps {
  readonly attempts: readonly Attempt[];
  readonly isFiltered: boolean;
  readonly onFilter: ReturnType<typeof useFilters>["change"];
}

function Attempts({ attempts, isFiltered, onFilter }: AttemptsProps) {
  const unchained = attempts.filter(({ hash }) => hash === null).length;
  if (attempts.length === 0)
    return isFiltered ? (
      <EmptyState title="No attempt fits the filter">Change the filter, or clear it.</EmptyState>
    ) : (
      <EmptyState title="Nothing was changed yet">Every change appears here within seconds.</EmptyState>
    );
  return (
    <>
      <p className="audit-about">
        {unchained === 0
          ? "All attempts below are in the chain of hashes. "
          : `Not yet in the chain of hashes: ${unchained} of the attempts below. `}
        An operator verifies the chain with <code>trunkline audit verify</code>.
      </p>
      <ol className="attempts" aria-label="Attempts">
        {attempts.map((attempt) => (
          <AttemptRow key={attempt.id} attempt={attempt} onFilter={onFilter} />
        ))}
      </ol>
    </>
  );
}

/** Saves all attempts that fit the filter, the oldest first. */
function Export({ query }: { readonly query: AuditQuery }) {
  const { board, client } = useWorkspace();
  const toast = useToast();
  const [state, setState] = useState<"idle" | "running" | { readonly problem: string }>("idle");
  const run = async (): Promise<void> => {
    setState("running");
    try {
      const response = await client.call(addressOf("/v1/audit", { query }), {});
      saveFile(await response.blob(), `audit-${board.slug}-${new Date().toISOString().slice(0, 10)}.jsonl`);
      toast({ title: "The audit log was exported" });
      setState("idle");
    } catch (error) {
      setState({ problem: messageOf(error) });
    }
  };
  return (
    <>
      <Button isBusy={state === "running"} onClick={() => void run()}>
        Export as JSON Lines
      </Button>
      {typeof state === "object" && (
        <p className="audit-problem" role="alert">
          Not exported. {state.problem}
        </p>
      )}
    </>
  );
}
