import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import type { User } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";

export interface Monitor {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly url: string;
  /** Null for the operator. */
  readonly createdBy: User | null;
  readonly createdAt: string;
  /** Since when nobody knows the secret; null while it works. */
  readonly stoppedAt: string | null;
}

/** The secret is in no other response. */
export type NewMonitor = Omit<Monitor, "createdAt" | "createdBy" | "stoppedAt"> & { readonly secret: string };

const PATH = "/console/v1/monitors";

const useKey = () => [...useWorkspace().keys.all, "monitors"] as const;

/** The monitors of the board, for maintainers. They have no events, so each visit reads them. */
export function useMonitors() {
  const { client } = useWorkspace();
  return useQuery({
    queryKey: useKey(),
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const response = await client.call(`${PATH}?limit=200`, { signal });
      return (await response.json()) as readonly Monitor[];
    },
  });
}

/** Creates a monitor. An attempt without a response is repeated under its key, so that there are not two monitors. */
export function useCreateMonitor() {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  const queryKey = useKey();
  const attempt = useRef({ body: "", key: "" });
  return useMutation({
    networkMode: "always",
    mutationFn: async (order: { readonly name: string; readonly projectId: string }) => {
      const body = JSON.stringify(order);
      if (attempt.current.body !== body) attempt.current = { body, key: crypto.randomUUID() };
      const headers = { "Content-Type": "application/json", "Idempotency-Key": attempt.current.key };
      const response = await client.call(PATH, { method: "POST", headers, body });
      const created = (await response.json()) as NewMonitor;
      attempt.current = { body: "", key: "" };
      return created;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  });
}

export function useRemoveMonitor() {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  const queryKey = useKey();
  return useMutation({
    networkMode: "always",
    mutationFn: ({ id }: Pick<Monitor, "id">) =>
      client.call(`${PATH}/${id}`, {
        method: "DELETE",
        headers: { "Idempotency-Key": crypto.randomUUID() },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  });
}

/** Replaces the secret. The response is the only one that has the new secret. */
export function useRotateMonitor() {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  const queryKey = useKey();
  return useMutation({
    networkMode: "always",
    mutationFn: async ({ id }: Pick<Monitor, "id">) => {
      const headers = { "Idempotency-Key": crypto.randomUUID() };
      const response = await client.call(`${PATH}/${id}/rotate`, { method: "POST", headers });
      return (await response.json()) as NewMonitor;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  });
}
