import type { CallLimits } from "../../../src/http/call-limiter.ts";
import { startService, type RunningService } from "../../../src/service.ts";
import type { TestWorld } from "../world.ts";

/** A second service with the same database and forge, like another process. */
export function startSecondService(
  { databaseUrl, forge: { app, apiUrl }, service }: TestWorld,
  limits?: CallLimits,
): Promise<RunningService> {
  return startService({
    databaseUrl,
    host: "127.0.0.1",
    port: 0,
    github: {
      apiUrl,
      appId: app.id,
      privateKey: app.privateKey,
      webhookSecrets: [app.webhookSecret],
      paceWrites: false,
    },
    ...(limits && { limits }),
    webhooks: { allowedAddresses: ["127.0.0.0/8"] },
    log: service.deps.log,
  });
}
