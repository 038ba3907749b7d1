import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "../scene.ts";

/** The error that the service logs; run.ts does not count it as a finding of its own. */
export const DISK_FULL_LOGGED = "PostgreSQL has no room on its disk";
const NAME = "no-room";
/** Longer than the service remembers a full disk. */
const RECOVERY_MS = 30_000;

/** Lets PostgreSQL refuse one write as with a full disk: `/readyz` must show it, and recover. */
export async function fullDisk(scene: Scene): Promise<void> {
  const { world } = scene;
  const [board] = world.boards;
  if (!board) throw new Error("the attack needs a board");
  await world.deps.db.raw(`
    create function refuse_label() returns trigger language plpgsql as $$
    begin raise exception 'no space left' using errcode = 'disk_full'; end $$;
    create trigger refuse_label before insert on labels for each row
      when (new.name = '${NAME}') execute function refuse_label()`);
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${world.service.baseUrl}/readyz`)).status === 200;
  while (!scene.isOver()) {
    const { status } = await board.api.post("/v1/labels", { name: NAME });
    if (status !== 503) scene.found(`a write on a full disk is ${status}`);
    if (await isReady()) scene.found("/readyz is 200 after a write failed for a full disk");
    const end = performance.now() + RECOVERY_MS;
    while (!(await isReady()) && performance.now() < end) await sleep(500);
    if (performance.now() >= end) scene.found(`/readyz is not 200 ${RECOVERY_MS} ms after the disk has room`);
    scene.tried();
  }
}
