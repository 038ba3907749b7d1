import type { ApiAnswer } from "./api.ts";
import type { TestBoard } from "./world.ts";

export interface Stage {
  readonly id?: string;
  readonly name: string;
  readonly kind: string;
  readonly minRole: string;
  readonly rule: { readonly type: string; readonly into?: string | null };
}
export interface Flow {
  readonly stages: readonly Stage[];
  readonly [setting: string]: unknown;
}

export const flowPath = ({ projectId }: TestBoard): string => `/v1/projects/${projectId}/flow`;
export const readFlow = async (board: TestBoard): Promise<Flow> =>
  (await board.api.get<Flow>(flowPath(board))).body;
export const putFlow = (board: TestBoard, flow: unknown): Promise<ApiAnswer<Flow & { message: string }>> =>
  board.api.put(flowPath(board), flow);
/** A new stage. */
export const newStage = (name: string, type = "none"): Stage => ({
  name,
  kind: "stage",
  minRole: "member",
  rule: { type },
});
export const stageNames = (flow: Flow): string[] => flow.stages.map(({ name }) => name);
export const without = (flow: Flow, name: string): Flow => ({
  ...flow,
  stages: flow.stages.filter((stage) => stage.name !== name),
});
/** The flow with changed settings of one stage. */
export const withStage = (flow: Flow, name: string, changes: Partial<Stage>): Flow => ({
  ...flow,
  stages: flow.stages.map((stage) => (stage.name === name ? { ...stage, ...changes } : stage)),
});
export const readColumns = async (board: Pick<TestBoard, "api">) =>
  (
    await board.api.get<{ columns: { statusId: string; name: string; tasks: { number: number }[] }[] }>(
      "/v1/board",
    )
  ).body.columns;
