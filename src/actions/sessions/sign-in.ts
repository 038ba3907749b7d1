import { ForgeUnavailable, type ForgeAccount } from "../../forge/values.ts";
import { SignInRefused, type PersonToken, type SignInForge } from "../../forge/sign-in.ts";
import { isKnownAgent } from "../../flow/comment-text.ts";
import type { Trx } from "../../store/db/connect.ts";
import { forAttempt, transaction } from "../../store/db/transaction.ts";
import { findCredential, reachesAnything } from "../../store/tenancy/credentials.ts";
import { setMembership } from "../../store/tenancy/memberships.ts";
import { insertSession } from "../../store/tenancy/sessions.ts";
import { isSignInLink, recordSignIn, takeSignInLink } from "../../store/tenancy/sign-ins.ts";
import { setOperator } from "../../store/tenancy/operators.ts";
import { findForgeUser } from "../../store/tenancy/users.ts";
import type { Attempt } from "../attempt.ts";
import { hashSecret, makeSessionKey, type KeyParts } from "../credentials/credential-key.ts";
import type { Deps } from "../deps.ts";
import { forgeActor } from "../members/forge-accounts.ts";
import { acceptInvitations } from "../members/invitations.ts";
import { openSignIn, sealSignIn } from "./sealed-sign-in.ts";
import { sealToken } from "./sealed-token.ts";
import { endOwnSession } from "./sign-out.ts";

/** A person has this time to sign in on GitHub, in milliseconds. */
export const SIGN_IN_MS = 600_000;

/** However active a session is, it ends after this time, in milliseconds. */
const MAX_SESSION_MS = 7 * 24 * 3_600_000;

/** How people sign in to the console. */
export interface SignInSettings {
  readonly forge: SignInForge;
  /** Encrypts people's tokens. */
  readonly tokenKey: Buffer;
  /** Encrypts pending sign-ins. */
  readonly signInKey: Buffer;
  /** A session ends when nobody has used it for this time. */
  readonly idleMs: number;
}

interface StartedSignIn {
  /** The forge's page. */
  readonly url: string;
  /** For a cookie: only this browser can finish the sign-in. */
  readonly sealed: string;
}

/** Starts a sign-in, which writes nothing. Throws `SignInRefused` for a one-time link that was used or has expired. */
export async function startSignIn(
  { db }: Pick<Deps, "db">,
  { forge, signInKey }: Pick<SignInSettings, "forge" | "signInKey">,
  {
    redirectUri,
    returnTo,
    linkToken,
  }: { readonly redirectUri: string; readonly returnTo: string; readonly linkToken: string | null },
): Promise<StartedSignIn> {
  if (linkToken !== null && !(await isSignInLink(db, hashSecret(linkToken)))) throw linkExpired();
  const { url, state, codeVerifier } = await forge.start(redirectUri);
  const pending = { codeVerifier, returnTo, linkToken, startedAt: Date.now() };
  return { url, sealed: sealSignIn(pending, signInKey, state) };
}

const linkExpired = (): SignInRefused =>
  new SignInRefused("expired", "the one-time link was used or has expired");

interface Returned {
  /** The address to which the browser returned. */
  readonly url: URL;
  /** From the cookie; empty without one. */
  readonly sealed: string;
  /** From the cookie of the session that the browser has had so far; null without one. */
  readonly earlier: KeyParts | null;
  /** Makes the row of the audit log for the new session. */
  readonly attemptOf: (clientId: string) => Attempt;
}

interface NewSession {
  readonly cookie: string;
  readonly returnTo: string;
}

/**
 * Finishes a sign-in: checks the response of the forge, finds the person by the numeric id of their
 * account, and starts a session. Throws `SignInRefused` and `ForgeUnavailable`.
 */
export async function finishSignIn(
  deps: Deps,
  settings: SignInSettings,
  { url, sealed, earlier, attemptOf }: Returned,
): Promise<NewSession> {
  const state = url.searchParams.get("state") ?? "";
  const started = openSignIn(sealed, settings.signInKey, state);
  if (!started) throw wrongState("this browser has not started this sign-in");
  if (Date.now() - started.startedAt > SIGN_IN_MS)
    throw new SignInRefused("expired", "the sign-in took more than ten minutes");
  const token = await settings.forge.finish(url, { state, codeVerifier: started.codeVerifier });
  const account = await deps.forge.tokenOwner(token);
  if (!account) throw new SignInRefused("failed", "GitHub does not accept its own token");
  if (account.isBot || isKnownAgent(account))
    throw new SignInRefused("not_a_member", "not a person's account");
  const key = makeSessionKey();
  const attempt = attemptOf(key.clientId);
  await transaction(forAttempt(deps.db, attempt.id), async (trx) => {
    if (!(await recordSignIn(trx, hashSecret(state)))) throw wrongState("the state was used before");
    const { linkToken } = started;
    const invitedTo = await acceptInvitations(deps, trx, account);
    attempt.workspaceId = invitedTo[0] ?? null;
    const userId = await (linkToken !== null
      ? joinByLink(deps, trx, account, hashSecret(linkToken), attempt)
      : knownUser(deps, trx, account));
    const session = { id: deps.newId(), userId, clientId: key.clientId, secretHash: key.secretHash };
    await startSession(trx, settings, session, token);
    if (earlier) await endOwnSession(trx, earlier);
    Object.assign(attempt, { userId, credentialId: session.id });
    await attempt.end(trx, { status: 302, problem: null });
  });
  return { cookie: key.text, returnTo: started.returnTo };
}

const wrongState = (reason: string): SignInRefused => new SignInRefused("wrong_state", reason);

/** The user of an account that was added or invited to a board. Its login and avatar may have changed. */
async function knownUser(deps: Deps, trx: Trx, account: ForgeAccount): Promise<string> {
  if (!(await findForgeUser(trx, account.forgeId))) throw notAMember();
  return (await forgeActor(deps, trx, account)).userId;
}

const notAMember = (): SignInRefused =>
  new SignInRefused("not_a_member", "the account is a member of no board");

/** Makes an account a maintainer of the board of a one-time link. */
async function joinByLink(
  deps: Deps,
  trx: Trx,
  account: ForgeAccount,
  linkHash: Buffer,
  attempt: Attempt,
): Promise<string> {
  const link = await takeSignInLink(trx, linkHash);
  if (link === null) throw linkExpired();
  const { workspaceId, isOperator } = link;
  attempt.workspaceId = workspaceId;
  const { userId } = await forgeActor(deps, trx, account);
  await setMembership(trx, { workspaceId, userId, role: "maintainer" });
  if (isOperator) await setOperator(trx, userId, true);
  return userId;
}

async function startSession(
  trx: Trx,
  { tokenKey, idleMs }: SignInSettings,
  session: {
    readonly id: string;
    readonly userId: string;
    readonly clientId: string;
    readonly secretHash: Buffer;
  },
  token: PersonToken,
): Promise<void> {
  const forgeToken = sealToken(token, tokenKey, session.id);
  await insertSession(trx, { ...session, idleMs, maxMs: MAX_SESSION_MS, forgeToken });
  const credential = await findCredential(trx, session.clientId);
  if (!credential || !reachesAnything(credential)) throw notAMember();
}

/** Why a sign-in failed, for the page that shows it; null for an unexpected error. */
export function problemOf(error: unknown): SignInRefused["problem"] | null {
  if (error instanceof SignInRefused) return error.problem;
  return error instanceof ForgeUnavailable ? "forge_unavailable" : null;
}
