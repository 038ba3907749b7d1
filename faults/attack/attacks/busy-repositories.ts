import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../../src/store/db/connect.ts";
import { addJob } from "../../../src/store/db/jobs.ts";
import { insertDeliveries } from "../../../src/store/forge/deliveries.ts";
import { addLaneJobs, laneOf } from "../../../src/store/forge/lanes.ts";
import { eventually } from "../../../test/support/api.ts";
import type { Scene } from "../scene.ts";
import { JOBS } from "../../../src/store/jobs.ts";

const BUSY = 60;
/** Deliveries of each busy repository: together, some seconds of work. */
const BACKLOG = 400;
const PER_STATEMENT = 200;
/** A delivery beside the busy repositories may take this long, or ten times as long as without them. */
const MAX_MS = 1_500;
const MAX_RATIO = 10;
const DRAINED_MS = 120_000;

/** Fills the lanes of busy repositories, and waits for a delivery of another one and for an armed move. */
export async function busyRepositories(scene: Scene): Promise<void> {
  const { world, random } = scene;
  const { db } = world.deps;
  const board = world.boards.at(1);
  if (!board) throw new Error("the attack needs two boards");
  const other = world.forge.repository(`${board.owner}/web`).id;
  const deliver = async (): Promise<number> => {
    await storeStatuses(db, other, 1);
    await addLaneJobs(db, [laneOfRepository(other)]);
    return millisecondsUntil(() => isDrained(db, [other]));
  };
  const limit = Math.max(MAX_MS, MAX_RATIO * (await deliver()));
  while (!scene.isOver()) {
    const busy = await addRepositories(
      scene,
      Array.from({ length: BUSY }, () => random.between(1_000_000_000, 2_000_000_000)),
    );
    for (const id of busy)
      for (let stored = 0; stored < BACKLOG; stored += PER_STATEMENT)
        await storeStatuses(db, id, PER_STATEMENT);
    await addLaneJobs(db, busy.map(laneOfRepository));
    await sleep(300);
    const processed = await deliver();
    if (processed > limit) scene.found(`a delivery of another board took ${Math.round(processed)} ms`);
    const key = `attack-${randomUUID()}`;
    await addJob(db, JOBS.inspectArmed.name, { cardId: randomUUID() }, { key });
    const inspected = await millisecondsUntil(async () => (await jobsWith(db, key)).length === 0);
    if (inspected > limit) scene.found(`an armed move was inspected after ${Math.round(inspected)} ms`);
    scene.tried();
    await eventually(() => isDrained(db, busy), Boolean, DRAINED_MS);
  }
}

/** Gives an account repositories with these ids, which no project has: other attacks freeze releases of projects. */
async function addRepositories(
  { world: { deps, boards } }: Scene,
  ids: readonly number[],
): Promise<readonly number[]> {
  const [board] = boards;
  const [known] = await deps
    .db("repositories as r")
    .join("projects as p", "p.id", "r.project_id")
    .where("p.workspace_id", board?.workspaceId ?? "")
    .select("r.*")
    .limit(1);
  await deps.db("repositories").insert(
    ids.map((id) => ({
      ...known,
      id: randomUUID(),
      forge_id: id,
      node_id: null,
      project_id: null,
      link_by_default: false,
      full_name: `acme/busy-${id}`,
    })),
  );
  return ids;
}

const laneOfRepository = (repositoryId: number): string => laneOf({ repositoryId, installationId: null });

const jobsWith = (db: Db, key: string): Promise<object[]> => db("graphile_worker.jobs").where({ key });

/** Stores commit statuses as the webhook endpoint does. */
async function storeStatuses(db: Db, repositoryId: number, count: number): Promise<void> {
  const payload = JSON.stringify({
    id: repositoryId,
    sha: "c".repeat(40),
    context: "ci",
    state: "success",
    created_at: new Date().toISOString(),
    branches: [{ name: "main" }],
    repository: { id: repositoryId, full_name: `acme/busy-${repositoryId}`, default_branch: "main" },
    sender: { id: 1, login: "ada", type: "User" },
  });
  const lane = laneOfRepository(repositoryId);
  const one = () => ({ guid: randomUUID(), event: "status", lane, payload, source: "webhook" }) as const;
  await insertDeliveries(db, Array.from({ length: count }, one));
}

const isDrained = async (db: Db, repositoryIds: readonly number[]): Promise<boolean> =>
  (
    await db("deliveries")
      .whereIn("lane", repositoryIds.map(laneOfRepository))
      .where({ state: "waiting" })
      .limit(1)
  ).length === 0;

async function millisecondsUntil(isDone: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  await eventually(isDone, Boolean, DRAINED_MS);
  return performance.now() - began;
}
