import type { Flow, Stage } from "../flow/flow.ts";
import type { Deps } from "./deps.ts";

/** A flow like this one whose stages are a new project's own. */
export const freshFlow = (
  deps: Pick<Deps, "newId">,
  flow: Omit<Flow, "stages"> & { readonly stages: readonly Omit<Stage, "id">[] },
): Flow => ({ ...flow, stages: flow.stages.map((stage) => ({ ...stage, id: deps.newId() })) });
