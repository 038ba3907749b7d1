import { issueCredential } from "../../../src/actions/credentials/credentials.ts";
import type { RunningService } from "../../../src/service.ts";
import { makeApi, type Api } from "../api.ts";
import type { TestBoard, TestWorld } from "../world.ts";

/** One credential at the world's process and at another one. */
export async function apisOf(
  world: TestWorld,
  other: RunningService,
  board: TestBoard,
): Promise<readonly [here: Api, there: Api]> {
  const { apiKey } = await issueCredential(world.service.deps, {
    name: "twice",
    boards: [{ workspaceId: board.workspaceId, role: "maintainer" }],
    scopes: ["read", "write"],
    expiresAt: null,
  });
  return [makeApi(world.service.baseUrl, apiKey), makeApi(other.baseUrl, apiKey)];
}

/** As after 15 seconds without a heartbeat of the other process. */
export const expireHeartbeat = ({ service: { deps } }: TestWorld, other: RunningService) =>
  deps
    .db("instances")
    .where({ id: other.deps.instanceId })
    .update({ seen_at: deps.db.raw("now() - interval '1 minute'") });
