import type { Logger } from "pino";
import type { Metrics } from "../metrics/metrics.ts";
import type { Forge } from "../forge/forge.ts";
import type { Db } from "../store/connect.ts";

/** What an action works with: the whole of it. */
export interface Deps {
  readonly db: Db;
  readonly forge: Forge;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** This process, as it signs what it holds. */
  readonly instanceId: string;
  /** A fresh identifier (UUIDv7). */
  readonly newId: () => string;
}
