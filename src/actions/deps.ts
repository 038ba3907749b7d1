import type { Logger } from "pino";
import type { Metrics } from "../metrics/metrics.ts";
import type { Forge } from "../forge/forge.ts";
import type { Db } from "../store/db/connect.ts";
import type { ReadyBoards } from "../store/cards/ready-boards.ts";

/** What an action works with: the whole of it. */
export interface Deps {
  readonly db: Db;
  readonly forge: Forge;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Boards as they were last read, ready to be sent while nothing has changed them. */
  readonly boards: ReadyBoards;
  /** This process, as it signs what it holds. */
  readonly instanceId: string;
  /** A fresh identifier (UUIDv7). */
  readonly newId: () => string;
}
