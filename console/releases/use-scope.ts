import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";

interface Change {
  readonly add?: readonly number[];
  readonly remove?: readonly number[];
}

/** Adds and removes cards of a release that is not frozen. */
export function useScope(id: string) {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const save = useWrite("PUT /v1/releases/{id}/cards");
  return useMutation<void, Error, Change>({
    networkMode: "always",
    mutationFn: async ({ add = [], remove = [] }) => {
      // The API replaces the whole scope. What others have changed meanwhile stays.
      const { data } = await client.read("GET /v1/releases/{id}", { path: { id } });
      const numbers = new Set([...data.cards.map(({ number }) => number), ...add]);
      for (const number of remove) numbers.delete(number);
      await save.mutateAsync({ path: { id }, body: { taskNumbers: [...numbers] } });
      await queries.invalidateQueries({ queryKey: keys.list("releases") });
    },
  });
}

export type Scope = ReturnType<typeof useScope>;
