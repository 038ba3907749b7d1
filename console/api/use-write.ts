import { useMutation, type UseMutationResult } from "@tanstack/react-query";
import { useRef } from "react";
import type { Received, Input, WriteRoute } from "./client.ts";
import { ApiProblem } from "./problem.ts";
import { useWorkspace } from "./workspace.tsx";

/**
 * A write. Every attempt has an idempotency key. If an attempt ended without a known outcome (no response, 5xx), the same
 * write repeated by the user gets the same key, so that it happens once.
 */
export function useWrite<R extends WriteRoute>(route: R): UseMutationResult<Received<R>, Error, Input<R>> {
  const { client } = useWorkspace();
  const unknown = useRef<{ readonly input: string; readonly key: string } | null>(null);
  return useMutation<Received<R>, Error, Input<R>>({
    networkMode: "always",
    mutationFn: async (input) => {
      const text = JSON.stringify(input);
      const key = unknown.current?.input === text ? unknown.current.key : crypto.randomUUID();
      try {
        const received = await client.write(route, input, key);
        unknown.current = null;
        return received;
      } catch (error) {
        const isKnown = error instanceof ApiProblem && error.status < 500;
        unknown.current = isKnown ? null : { input: text, key };
        throw error;
      }
    },
  });
}
