import type { ApiResponse } from "./api.ts";
import type { TestBoard } from "./world.ts";

export interface Stage {
  readonly id?: string;
  readonly name: string;
  readonly kind: string;
  readonly minRole: string;
  readonly rule: { readonly type: string; readonly into?: string | null };
  readonly gates?: {
    readonly wipLimit?: number | null;
    readonly humanOnly?: boolean;
    readonly secondPerson?: boolean;
  };
}
export interface Flow {
  readonly stages: readonly Stage[];
  readonly [setting: string]: unknown;
}

export const flowPath = ({ projectId }: TestBoard): string => `/v1/projects/${projectId}/flow`;
export const readFlow = async (board: TestBoard): Promise<Flow> =>
  (await board.api.get<Flow>(flowPath(board))).body;
export const putFlow = (board: TestBoard, flow: unknown): Promise<ApiResponse<Flow & { message: string }>> =>
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
/** Sets the gates of one stage of a board's flow. */
export async function setGates(board: TestBoard, name: string, gates: Stage["gates"] = {}): Promise<void> {
  const response = await putFlow(board, withStage(await readFlow(board), name, { gates }));
  if (response.status !== 200) throw new Error(`the gates are not set: ${response.text}`);
}
export const readColumns = async (board: Pick<TestBoard, "api">) =>
  (
    await board.api.get<{ columns: { statusId: string; name: string; tasks: { number: number }[] }[] }>(
      "/v1/board",
    )
  ).body.columns;
