import type { Git } from "./git/git.ts";
import type { ForgeState } from "./state.ts";
import type { WebhookSender } from "./webhooks/sender.ts";

/** Settings that may be changed while the forge runs. */
export interface ForgeSettings {
  /** Calls per hour of each caller, separately for REST and GraphQL. */
  rateLimit: number;
  /** Writes per minute of each installation; GitHub allows about 80 that create content. */
  writesPerMinute: number;
  /** How many reads of a pull request return `mergeable: null` before the result. */
  mergeabilityDelay: number;
  /** How long an asynchronous merge is pending. */
  asyncMergeDelayMs: number;
  /** False: a pull request whose branch is reset to its target is marked as merged at the next push there. */
  closesEmptiedPulls: boolean;
  /** False: 404, as on GitHub Enterprise Server. */
  hasAsyncMerge: boolean;
  /** False: 404 for `/repositories/{id}`, which GitHub does not document. */
  hasPathsById: boolean;
}

/** What a person has agreed to on the authorize page. */
export interface OauthCode {
  readonly accountId: number;
  readonly redirectUri: string;
  /** Null without PKCE. */
  readonly codeChallenge: string | null;
  readonly createdAt: string;
}

export interface ForgeContext {
  readonly state: ForgeState;
  readonly git: Git;
  readonly webhooks: WebhookSender;
  readonly settings: ForgeSettings;
  /** Without a trailing slash; `root` serves web pages and clones. */
  readonly urls: { readonly root: string; readonly api: string; readonly graphql: string };
  /** The codes of App manifests with the time of creation; lost on restart. */
  readonly manifestCodes: Map<string, string>;
  /** The codes and refresh tokens of sign-ins; lost on restart. */
  readonly oauthCodes: Map<string, OauthCode>;
  /** The ids of their accounts. */
  readonly refreshTokens: Map<string, number>;
  /** The time in GitHub's format. */
  readonly now: () => string;
  /** Runs pushes, merges and ref changes one at a time for each repository. */
  readonly withLock: <T>(repositoryId: number, work: () => Promise<T>) => Promise<T>;
  /** Runs work after the response; stopping the forge waits for it briefly. */
  readonly inBackground: (work: () => Promise<void>) => void;
  /** Aborted when the forge stops. */
  readonly stopping: AbortSignal;
  readonly log: ForgeLog;
}

export interface ForgeLog {
  readonly error: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}
