import type { Refusal } from "../flow/refusal.ts";

/** What not every repository has, depending on its plan or on the forge's version. */
export type Feature = "drafts" | "async_merge";

export interface RepositoryRef {
  readonly installationId: number;
  /** The forge's own numeric id, which survives renames. */
  readonly forgeId: number;
  /** `owner/name`. */
  readonly fullName: string;
  /** The forge's GraphQL id; null where the listing that tells it was not read yet. */
  readonly nodeId?: string | null;
  /** What it was found to lack lately, by whichever process; nothing is tried that needs it. */
  readonly lacks?: readonly Feature[];
}

export interface ForgeRepository {
  readonly forgeId: number;
  readonly fullName: string;
  readonly defaultBranch: string;
}

export interface GrantedRepository extends ForgeRepository {
  readonly nodeId: string;
  readonly isArchived: boolean;
}

export interface ForgeInstallation {
  readonly installationId: number;
  readonly account: { readonly forgeId: number; readonly login: string };
  readonly suspended: boolean;
  /** What Trunkline needs and the account has not granted, as `workflows: write`. */
  readonly missingPermissions: readonly string[];
}

/** The App as the forge has it: what it asks the accounts that install it for. */
export interface ForgeApp {
  readonly slug: string;
  /** What Trunkline needs and the App does not ask for, as `workflows: write`. */
  readonly missingPermissions: readonly string[];
  /** Kinds of webhooks that Trunkline works and the App is not sent. */
  readonly missingEvents: readonly string[];
  /** How far our clock is ahead of the forge's; null where it did not say its time. */
  readonly clockSkewSeconds: number | null;
}

export interface ForgeWebhook {
  /** Null where none is set, or deliveries are off. */
  readonly url: string | null;
  readonly isJson: boolean;
  readonly hasSecret: boolean;
}

/** One try of the forge's to deliver a webhook, as its own log has it. */
export interface DeliveryAttempt {
  /** The forge's name for this try. */
  readonly id: string;
  /** Shared by all tries of one delivery. */
  readonly guid: string;
  readonly event: string;
  readonly at: string;
  /** Whether the receiver took it. */
  readonly isOk: boolean;
  /** Whether the receiver answered that it is not properly signed. */
  readonly isUnsigned: boolean;
  readonly ended: string;
}

/** Part of the delivery log. `next` names the part before it in time; null at the log's end. */
export interface DeliveryLogPage {
  readonly attempts: readonly DeliveryAttempt[];
  readonly next: string | null;
}

/** Who the App is on the forge: commits, pull requests and comments of ours carry this account. */
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

/** What one of several questions brought. Whatever goes wrong with one is told in words, and the others still answer. */
export type Asked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

export type Ordered<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** A branch or tag created or found at the commit (`created` false), or found at another one. */
export type CreatedRef = Ordered<{ readonly created: boolean } | { readonly taken: string }>;

/** The forge could not be asked, or did not say. `retryAfter` in seconds. */
export class ForgeUnavailable extends Error {
  override readonly name = "ForgeUnavailable";
  readonly retryAfter: number;

  constructor(message: string, options: { retryAfter?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfter = options.retryAfter ?? 5;
  }
}
