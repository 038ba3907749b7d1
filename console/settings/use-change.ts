import { useQueryClient } from "@tanstack/react-query";
import type { Input, Received, WriteRoute } from "../api/client.ts";
import { useWrite } from "../api/use-write.ts";
import { useToast } from "../components/toast.tsx";

export interface Change<R extends WriteRoute> {
  /** Writes, then shows the notice `done`, if any, and reads `list` again. Resolves to undefined if it failed. */
  readonly run: (input: Input<R>, done: string | null) => Promise<Received<R> | undefined>;
  readonly isBusy: boolean;
  /** Why the last attempt failed; null after `reset`. */
  readonly error: Error | null;
  readonly reset: () => void;
}

/** A write of a settings page, and the list that it changes. */
export function useChange<R extends WriteRoute>(route: R, list: readonly unknown[]): Change<R> {
  const queries = useQueryClient();
  const toast = useToast();
  const { mutateAsync, isPending, error, reset } = useWrite(route);
  const run = async (input: Input<R>, done: string | null): Promise<Received<R> | undefined> => {
    if (isPending) return undefined;
    try {
      const received = await mutateAsync(input);
      if (done !== null) toast({ title: done });
      void queries.invalidateQueries({ queryKey: list });
      return received;
    } catch {
      return undefined;
    }
  };
  return { run, isBusy: isPending, error, reset };
}
