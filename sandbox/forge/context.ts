import type { Git } from "./git/git.ts";
import type { ForgeState } from "./state.ts";
import type { WebhookSender } from "./webhooks/sender.ts";

/** How the forge behaves where GitHub leaves room; tests change these while it runs. */
export interface ForgeSettings {
  /** Calls an hour for each token, REST and GraphQL apart. */
  rateLimit: number;
  /** Writing calls a minute for each installation; GitHub's own limit is about 80, and only for what creates content. */
  writesPerMinute: number;
  /** How many reads of a pull request answer `mergeable: null` before its mergeability is known. */
  mergeabilityDelay: number;
  /** How long an asynchronous merge stays pending. */
  asyncMergeDelayMs: number;
  /** False answers 404, as GitHub Enterprise Server does. */
  hasAsyncMerge: boolean;
}

/** Addresses, without a trailing slash. */
export interface ForgeUrls {
  /** What people open and clone from. */
  readonly root: string;
  readonly api: string;
  readonly graphql: string;
}

/** What every part of the forge works with. */
export interface ForgeContext {
  readonly state: ForgeState;
  readonly git: Git;
  readonly webhooks: WebhookSender;
  readonly settings: ForgeSettings;
  readonly urls: ForgeUrls;
  /** Codes given for the secrets of an App made from a manifest, and when. A restart forgets them. */
  readonly manifestCodes: Map<string, string>;
  /** The time, as GitHub writes it. */
  readonly now: () => string;
  /** One writer at a time for each repository: pushes, merges and ref changes queue here. */
  readonly exclusively: <T>(repositoryId: number, work: () => Promise<T>) => Promise<T>;
  /** Work that goes on after an answer; stopping the forge waits for it a little. */
  readonly later: (work: () => Promise<void>) => void;
  /** Aborted when the forge stops: what waits for its time must not wait longer. */
  readonly ending: AbortSignal;
  readonly log: ForgeLog;
}

export interface ForgeLog {
  readonly info: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  readonly error: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}
