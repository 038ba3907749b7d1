import type { Repository } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useState } from "react";
import { readAll } from "../../api/client.ts";
import { useChange } from "../use-change.ts";

type Linked = Pick<Repository, "id" | "linkByDefault">;

/**
 * Changes which repositories a project has. The set is read right before it is written, so that a change of somebody
 * else is not undone by an old page.
 */
export function useSetRepositories(projectId: string) {
  const { client, keys } = useWorkspace();
  const [readError, setReadError] = useState<Error | null>(null);
  const change = useChange("PUT /v1/projects/{projectId}/repositories", keys.list("repositories"));
  const set = async (
    to: (linked: readonly Linked[]) => readonly Linked[],
    done: string | null,
  ): Promise<boolean> => {
    const path = { projectId };
    setReadError(null);
    try {
      const now = await readAll(client, "GET /v1/projects/{projectId}/repositories", { path });
      const repositories = to(now).map(({ id, linkByDefault }) => ({ id, linkByDefault }));
      return (await change.run({ path, body: { repositories } }, done)) !== undefined;
    } catch (error) {
      setReadError(error as Error);
      return false;
    }
  };
  const reset = (): void => {
    setReadError(null);
    change.reset();
  };
  return { set, reset, isBusy: change.isBusy, error: readError ?? change.error };
}
