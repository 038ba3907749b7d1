import type { Refusal } from "../flow/refusal.ts";

/** What some repositories lack, depending on their plan or on the forge's version. */
export type RepositoryFeature = "drafts" | "async_merge";

export interface RepositoryRef {
  readonly installationId: number;
  /** The forge's numeric id, which survives renames. */
  readonly forgeId: number;
  /** `owner/name`. */
  readonly fullName: string;
  /** The GraphQL id; null until a listing has returned it. */
  readonly nodeId?: string | null;
  /** Features that were missing lately; they are not tried. */
  readonly lacks?: readonly RepositoryFeature[];
}

export interface ForgeRepository {
  readonly forgeId: number;
  readonly fullName: string;
  readonly defaultBranch: string;
}

export interface GrantedRepository extends ForgeRepository {
  readonly nodeId: string;
  readonly isArchived: boolean;
  /** Where GitHub's pages are, such as `https://github.com`. */
  readonly forgeUrl: string;
}

export interface ForgeInstallation {
  readonly installationId: number;
  readonly account: { readonly forgeId: number; readonly login: string };
  readonly suspended: boolean;
  /** Required, but not granted by the account, such as `workflows: write`. */
  readonly missingPermissions: readonly string[];
}

/** The App's registration on the forge. */
export interface ForgeApp {
  readonly slug: string;
  /** Required, but not requested by the App, such as `workflows: write`. */
  readonly missingPermissions: readonly string[];
  /** Webhook events that Trunkline processes and the App does not subscribe to. */
  readonly missingEvents: readonly string[];
  /** Those that no manifest can subscribe to, and that the hourly comparison replaces. */
  readonly missingOptionalEvents: readonly string[];
  /** How far our clock is ahead of the forge's; null when the forge sent no time. */
  readonly clockSkewSeconds: number | null;
}

export interface ForgeWebhook {
  /** Null when none is set or deliveries are off. */
  readonly url: string | null;
  readonly isJson: boolean;
  readonly hasSecret: boolean;
}

/** One attempt of the forge to deliver a webhook, from its delivery log. */
export interface DeliveryAttempt {
  readonly id: string;
  /** Shared by all attempts of one delivery. */
  readonly guid: string;
  readonly event: string;
  readonly at: string;
  /** The receiver accepted it. */
  readonly isOk: boolean;
  /** The receiver rejected its signature. */
  readonly isSignatureRejected: boolean;
  readonly outcome: string;
}

export interface DeliveryLogPage {
  /** Newest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** The cursor of the next, older page; null at the log's end. */
  readonly next: string | null;
}

/** The App's bot account: it is the author of our commits, pull requests and comments. */
export interface ForgeIdentity {
  readonly botLogin: string;
  readonly botId: number;
}

export interface ForgeAccount {
  readonly forgeId: number;
  readonly login: string;
  readonly avatarUrl: string | null;
  readonly isBot: boolean;
}

/** The response to one of several questions. An error does not affect the other responses. */
export type QuestionResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

export type ForgeResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** A ref that was created or exists at the commit (`created` false), or is taken by another one. */
export type CreatedRef = ForgeResult<{ readonly created: boolean } | { readonly taken: string }>;

/** Why the forge cannot be used now. An outage includes a lost response; `ForgeLimited` is a rate limit. */
export const UNAVAILABLE_REASONS = ["rate_limit", "unusable_response", "outage"] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/** The forge cannot be used now; `reason` says why. `retryAfter` in seconds. */
export class ForgeUnavailable extends Error {
  override readonly name = "ForgeUnavailable";
  readonly retryAfter: number;
  readonly reason: UnavailableReason;

  constructor(
    message: string,
    options: { retryAfter?: number; reason?: UnavailableReason; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfter = options.retryAfter ?? 5;
    this.reason = options.reason ?? "outage";
  }
}

/** GitHub limits the requests of an account. None is sent before `until`. */
export class ForgeLimited extends ForgeUnavailable {
  readonly until: Date;

  constructor(until: Date, retryAfter: number) {
    const time = until.toISOString().replace(/\.\d+/, "");
    super(`GitHub limits requests until ${time}`, { retryAfter, reason: "rate_limit" });
    this.until = until;
  }
}
