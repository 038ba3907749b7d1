import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { createClient, type Client } from "../api/client.ts";

interface Age {
  /** 0 if nothing waits. */
  readonly seconds: number;
  readonly isLate: boolean;
}

/** Of `GET /console/operations/overview`. */
export interface Overview {
  readonly version: string;
  readonly processes: readonly {
    readonly id: string;
    readonly version: string | null;
    readonly startedAt: string;
    readonly seenAt: string;
    readonly isAlive: boolean;
  }[];
  readonly database: {
    readonly version: string;
    readonly name: string;
    readonly bytes: number;
    readonly connections: number;
    readonly maxConnections: number;
  };
  readonly lag: Readonly<Record<"jobs" | "deliveries" | "events" | "webhooks" | "auditChain", Age>>;
  readonly waiting: Readonly<
    Record<"jobs" | "deliveries" | "parked" | "webhooksPaused" | "failedJobs", number>
  >;
  readonly tasks: readonly {
    readonly task: string;
    readonly due: number;
    readonly running: number;
    readonly later: number;
    readonly failed: number;
  }[];
  readonly failedJobs: readonly {
    readonly id: string;
    readonly task: string;
    readonly attempts: number;
    readonly error: string | null;
    readonly failedAt: string;
  }[];
  readonly parked: readonly {
    readonly guid: string;
    readonly event: string;
    readonly about: string;
    readonly attempts: number;
    readonly crashes: number;
    readonly error: string | null;
    readonly receivedAt: string;
  }[];
}

/** Of `GET /console/operations/installations`. */
export interface Installation {
  readonly login: string;
  readonly installationId: number | null;
  readonly state: "active" | "removed" | "suspended" | "refused";
  readonly since: string | null;
  readonly refused: string | null;
  readonly missingPermissions: readonly string[];
  readonly boards: number;
  readonly repositories: number;
  readonly unavailable: "rate_limit" | "unusable_response" | "outage" | null;
  readonly limitedUntil: string | null;
  readonly contentLeft: number | null;
  readonly contentBurst: number;
}

/** Of `GET /console/operations/findings`. */
export interface Finding {
  readonly about: string;
  readonly state: "ok" | "warning" | "problem";
  readonly message: string;
  readonly advice?: string;
}

interface OperationsData {
  readonly overview: Overview;
  readonly installations: readonly Installation[];
  readonly findings: readonly Finding[];
}

export const OperationsClient = createContext<Client | null>(null);

/** A client for calls that concern no board. */
export const createOperationsClient = (onSignedOut: () => void): Client => createClient("", onSignedOut);

function useClient(): Client {
  const client = useContext(OperationsClient);
  if (!client) throw new Error("useClient is used outside of OperationsClient");
  return client;
}

/** A part of the page, read again in an interval of milliseconds; null for never. */
export function useOperations<Part extends keyof OperationsData>(part: Part, everyMs: number | null) {
  const client = useClient();
  return useQuery({
    queryKey: ["operations", part],
    queryFn: async ({ signal }) =>
      (await (await client.call(`/console/operations/${part}`, { signal })).json()) as OperationsData[Part],
    refetchInterval: everyMs ?? false,
    staleTime: 0,
  });
}

/** Retries `deliveries`, one of them as in `deliveries/<guid>`, or `jobs`. Returns how many. */
export function useRetry() {
  const client = useClient();
  const queries = useQueryClient();
  return useMutation({
    networkMode: "always",
    mutationFn: async (what: string) => {
      const response = await client.call(`/console/operations/${what}/retry`, { method: "POST" });
      return ((await response.json()) as { readonly retried: number }).retried;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["operations", "overview"] }),
  });
}
