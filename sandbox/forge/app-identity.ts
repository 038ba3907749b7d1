import { generateKeyPair, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { AccountRow, AppRow, InstallationRow, Permissions, TokenRow } from "./rows.ts";
import type { ForgeState } from "./state.ts";

/** The permissions of Trunkline's App on GitHub. */
const APP_PERMISSIONS: Permissions = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "read",
  checks: "read",
  statuses: "read",
  merge_queues: "read",
  workflows: "write",
  actions: "read",
};

const APP_EVENTS = [
  "check_run",
  "check_suite",
  "create",
  "delete",
  "installation_target",
  "issue_comment",
  "pull_request",
  "pull_request_review",
  "pull_request_review_thread",
  "push",
  "release",
  "repository",
  "status",
] as const;

export interface AppChoices {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly permissions: Permissions;
  readonly events: readonly string[];
}

/** Creates the App and its bot account. */
export function createApp(
  state: ForgeState,
  ownerId: number,
  choices: Partial<AppChoices> & Pick<AppChoices, "privateKey">,
  now: string,
): AppRow {
  const slug = choices.slug ?? "trunkline";
  const bot = createAccount(state, { login: `${slug}[bot]`, type: "Bot", now });
  return state.apps.save({
    id: choices.id ?? state.newId(),
    slug,
    name: choices.name ?? "Trunkline",
    clientId: `Iv23li${randomBytes(7).toString("hex")}`,
    clientSecret: newClientSecret(),
    privateKey: choices.privateKey,
    webhookSecret: choices.webhookSecret ?? randomBytes(24).toString("hex"),
    hookId: state.newId(),
    ownerId,
    botId: bot.id,
    permissions: choices.permissions ?? APP_PERMISSIONS,
    events: choices.events ?? APP_EVENTS,
    createdAt: now,
  });
}

export const newClientSecret = (): string => randomBytes(20).toString("hex");

export async function makePrivateKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  return privateKey.export({ type: "pkcs1", format: "pem" }).toString();
}

export function createAccount(
  state: ForgeState,
  given: { login: string; type: AccountRow["type"]; now: string; name?: string | null },
): AccountRow {
  if (state.accounts.inGroup(given.login.toLowerCase()).length > 0)
    throw new Error(`Account ${given.login} already exists`);
  const id = state.newId();
  return state.accounts.save({
    id,
    login: given.login,
    type: given.type,
    name: given.name ?? null,
    email: `${id}+${given.login.replace("[bot]", "-bot")}@users.noreply.sandbox.invalid`,
    createdAt: given.now,
    members: {},
  });
}

/** Creates a classic personal access token. */
export function createPersonToken(state: ForgeState, accountId: number): TokenRow {
  return state.tokens.save({
    id: state.newId(),
    token: makeToken("ghp_", 36),
    accountId,
    installationId: null,
    permissions: null,
    repositoryIds: null,
    expiresAt: null,
  });
}

/** Creates a token with which the App acts as a person. */
export function createUserToken(state: ForgeState, accountId: number, expiresAt: string): TokenRow {
  return state.tokens.save({
    id: state.newId(),
    token: makeToken("ghu_", 36),
    accountId,
    installationId: null,
    permissions: null,
    repositoryIds: null,
    expiresAt,
    isOfApp: true,
  });
}

/**
 * Creates an installation access token in GitHub's format since 2026, about 520 characters:
 * `ghs_<app id>_<three parts with dots>`.
 */
export function createInstallationToken(
  state: ForgeState,
  installation: InstallationRow,
  narrowed: { permissions: Permissions | null; repositoryIds: readonly number[] | null; expiresAt: string },
): TokenRow {
  const parts = [makeToken("", 36), makeToken("", 420), makeToken("", 43)].join(".");
  const token = `ghs_${installation.appId}_${parts}`;
  return state.tokens.save({
    id: state.newId(),
    token,
    accountId: null,
    installationId: installation.id,
    ...narrowed,
  });
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

function makeToken(prefix: string, length: number): string {
  let text = prefix;
  // 248 is a multiple of 62: larger bytes would make the first eight characters more likely.
  while (text.length < prefix.length + length)
    for (const byte of randomBytes(length))
      if (byte < 248 && text.length < prefix.length + length) text += ALPHABET[byte % 62];
  return text;
}
