import type { Logger } from "pino";
import type { Metrics } from "../metrics/metrics.ts";
import type { Forge } from "../forge/forge.ts";
import type { Db } from "../store/db/connect.ts";
import type { CachedBoards } from "../store/cards/cached-boards.ts";
import type { LiveReads } from "./live-reads.ts";
import type { Feed } from "./feed.ts";
import type { WebhookClient } from "./webhooks/webhook-client.ts";

/** Everything an action depends on. */
export interface Deps {
  readonly db: Db;
  readonly forge: Forge;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly feed: Feed;
  readonly webhookClient: WebhookClient;
  /** Cached responses of `GET /v1/board`. */
  readonly boards: CachedBoards;
  /** What GitHub said lately about cards. */
  readonly liveReads: LiveReads;
  /** Frees the place of this call among those that run, before it waits for another server. */
  readonly leavePlace: () => void;
  /** Identifies this process as the owner of what it runs. */
  readonly instanceId: string;
  /** Claims that a credential may hold at a time. */
  readonly claimsPerCredential: number;
  /** A new UUIDv7. */
  readonly newId: () => string;
}
