import type { CallLimits } from "../../../src/http/call-limiter.ts";
import { consoleAccess } from "../../../sandbox/start-sandbox.ts";
import { startService, type RunningService } from "../../../src/service.ts";
import { githubOptions } from "../forge/github-options.ts";
import type { TestWorld } from "../world.ts";

/** Starts a second service of a world, like another process. It stops with the world. */
export async function startSecondService(
  world: TestWorld,
  limits?: CallLimits,
  { keepAliveMs, followsTimetable = true }: { keepAliveMs?: number; followsTimetable?: boolean } = {},
): Promise<RunningService> {
  const { databaseUrl, forge, service } = world;
  const second = await startService({
    databaseUrl,
    host: "127.0.0.1",
    port: 0,
    github: githubOptions(forge),
    ...(limits && { limits }),
    ...(keepAliveMs !== undefined && { keepAliveMs }),
    followsTimetable,
    webhooks: { allowedAddresses: ["127.0.0.0/8"] },
    console: { publicUrl: null, idleMs: 3_600_000, ...consoleAccess(forge) },
    log: service.deps.log,
  });
  world.stopLater(second);
  return second;
}
