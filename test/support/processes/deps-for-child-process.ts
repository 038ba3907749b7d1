import { v7 as uuidv7 } from "uuid";
import { DEFAULT_CLAIMS_PER_CREDENTIAL } from "../../../src/actions/claims/claims.ts";
import type { Deps } from "../../../src/actions/deps.ts";
import { createGitHubForge } from "../../../src/forge/github/connect-github.ts";
import { createFeed } from "../../../src/actions/feed.ts";
import { createWebhookClient } from "../../../src/actions/webhooks/webhook-client.ts";
import { createLog } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import type { RunningForge } from "../../../sandbox/forge/start-forge.ts";
import type { Db } from "../../../src/store/db/connect.ts";
import { createLiveReads } from "../../../src/actions/live-reads.ts";
import { createCachedBoards } from "../../../src/store/cards/cached-boards.ts";
import { createForgeLimits } from "../../../src/store/forge/forge-limits.ts";

/** The dependencies of actions, for tests whose services are child processes. */
export function depsForChildProcess(db: Db, { apiUrl, app }: RunningForge): Deps {
  const log = createLog("silent");
  const { id: appId, privateKey, webhookSecret } = app;
  return {
    db,
    log,
    forge: createGitHubForge({
      baseUrl: apiUrl,
      appId,
      privateKey,
      webhookSecret,
      sharedLimits: createForgeLimits(db),
      log,
    }),
    metrics: createMetrics(),
    boards: createCachedBoards(),
    liveReads: createLiveReads(),
    feed: createFeed(db, log),
    webhookClient: createWebhookClient(),
    claimsPerCredential: DEFAULT_CLAIMS_PER_CREDENTIAL,
    instanceId: uuidv7(),
    leavePlace: () => {},
    newId: uuidv7,
  };
}
