import { useQueries } from "@tanstack/react-query";
import { useWorkspace } from "../../api/workspace.tsx";
import type { MissingBranch } from "../flow/describe-changes.ts";

/** How long a response is used without asking GitHub again, in milliseconds. */
const FRESH_MS = 10_000;
/** How often GitHub is asked whether a missing branch exists now, in milliseconds. */
const REREAD_MS = 15_000;

/**
 * Which of these branches do not exist in which repositories of a project. Has only what GitHub has said, so a branch
 * that could not be read is not in it.
 */
export function useMissingBranches(
  projectId: string,
  branchNames: readonly string[],
): readonly MissingBranch[] {
  const { client, keys } = useWorkspace();
  return useQueries({
    queries: branchNames.map((name) => ({
      queryKey: keys.branch(projectId, name),
      queryFn: async () => {
        const input = { path: { projectId }, query: { name } };
        const { data } = await client.read("GET /console/v1/projects/{projectId}/branches", input);
        return data
          .filter(({ exists }) => exists === false)
          .map(({ repositoryId, fullName }) => ({ branchName: name, repositoryId, fullName }));
      },
      staleTime: FRESH_MS,
      retry: false,
      refetchInterval: ({ state }: { state: { data: readonly MissingBranch[] | undefined } }) =>
        state.data && state.data.length > 0 ? REREAD_MS : (false as const),
    })),
    combine: (all) => all.flatMap(({ data = [] }) => data),
  });
}
