import { useMemo } from "react";
import { useRead } from "../../api/reads.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { NONE, type StageCounts } from "./describe-changes.ts";

/**
 * How many cards each stage of a project has, and how many armed moves lead into it. Undefined
 * until it is known. Live.
 */
export function useStageCounts(projectId: string): StageCounts | undefined {
  const { keys } = useWorkspace();
  const { data } = useRead(
    [...keys.listed, projectId, "stages"],
    "GET /console/v1/projects/{projectId}/stages",
    { path: { projectId } },
  );
  return useMemo(() => {
    if (!data) return undefined;
    const stages = new Map(data.map((stage) => [stage.id, stage]));
    return {
      cardsIn: (id) => stages.get(id)?.cards ?? NONE,
      armedInto: (id) => stages.get(id)?.armed ?? NONE,
    };
  }, [data]);
}
