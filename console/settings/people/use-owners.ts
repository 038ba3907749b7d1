import { useRead } from "../../api/reads.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { LIST_OPTIONS } from "./list-options.ts";

interface Owner {
  readonly id: string;
  readonly login: string;
}

/** The people on the board, who can own agents. */
export function useOwners(): readonly Owner[] {
  const { keys } = useWorkspace();
  const { data = [] } = useRead(keys.people("members"), "GET /console/v1/people", {}, LIST_OPTIONS);
  return data.filter(({ kind }) => kind === "human");
}
