import { LRUCache } from "lru-cache";
import { Probot, ProbotOctokit } from "probot";
import type { Logger } from "pino";
import type { Permissions } from "./accepted-permissions.ts";
import { renewalOfForbidden, type Token } from "./forbidden.ts";
import type { CompleteResponse, MonotonicClock, Transport } from "./transport.ts";

/** The shortest time between two tokens if GitHub accepts neither. */
const REMINT_EVERY_MS = 60_000;
const MINT_WITHIN_MS = 20_000;
/** The size of the cache of installations. */
const MAX_INSTALLATIONS = 500;

export interface GitHubAppOptions {
  readonly appId: number | string;
  readonly privateKey: string;
  /** `https://api.github.com`, or `https://<host>/api/v3` for an Enterprise Server. */
  readonly baseUrl: string;
  readonly webhookSecret: string;
  readonly log: Logger;
}

export interface InstallationOctokits {
  readonly octokit: ProbotOctokit;
  /** A newer token than the refused one; null when GitHub would refuse it as well. */
  renewToken(refusedAuthorization: string | null): Promise<string | null>;
  recordAccepted(authorization: string | null): void;
  /** The permissions of the token; empty if GitHub did not name them. */
  readonly permissions: () => Promise<Permissions>;
  /** A newer token if the refused one lacks permissions that were granted later, else null. */
  readonly renewForbiddenToken: (refusedAuthorization: string | null) => Promise<string | null>;
  /** Lets the next call use a new token. */
  forgetToken(): void;
  /** The new token after `forgetToken`, else null. */
  renewForgottenToken(): Promise<string | null>;
}

export interface Octokits {
  readonly asApp: () => Promise<ProbotOctokit>;
  readonly asInstallation: (installationId: number) => Promise<InstallationOctokits>;
  /** Permissions changed: a token keeps those that it was created with. */
  readonly forgetToken: (installationId: number) => Promise<void>;
  /** Without authentication. */
  readonly asNobody: () => ProbotOctokit;
}

type Octokit = typeof ProbotOctokit;

/** Uses probot to sign as the App, and to mint and cache installation tokens. */
export function createOctokits(
  options: GitHubAppOptions,
  transport: Transport,
  clock: MonotonicClock,
): Octokits {
  const request = { fetch: mintingFetch(transport, clock), log: options.log };
  // At debug level, probot logs the bodies it sends, which contain users' texts.
  const level = options.log.isLevelEnabled("debug") ? "info" : options.log.level;
  const log = options.log.child({}, { level });
  // Octokit's retries repeat writes without a check (a refused merge took 4 calls and 16 s). Its
  // throttling covers one process, counts every GraphQL call as a write, and sleeps until the
  // hourly limit resets. Only the function form overrides probot's own throttle defaults.
  const Octokit = ProbotOctokit.defaults((instance: Record<string, unknown>) => ({
    ...instance,
    retry: { enabled: false },
    throttle: { enabled: false },
  }));
  const probot = new Probot({
    appId: options.appId,
    privateKey: options.privateKey,
    secret: options.webhookSecret,
    baseUrl: options.baseUrl,
    Octokit,
    log,
    request,
  });
  const cache = new LRUCache<number, Promise<InstallationOctokits>>({ max: MAX_INSTALLATIONS });

  function asInstallation(installationId: number): Promise<InstallationOctokits> {
    const cached = cache.get(installationId);
    if (cached !== undefined) return cached;
    const created = connect(probot, installationId, clock);
    cache.set(installationId, created);
    created.catch(() => cache.delete(installationId));
    return created;
  }

  return {
    asApp: () => probot.auth(),
    asInstallation,
    forgetToken: async (installationId) => (await cache.get(installationId))?.forgetToken(),
    asNobody: () => new Octokit({ baseUrl: options.baseUrl, request, log }),
  };
}

interface FactoryOptions {
  readonly octokit: { readonly constructor: Octokit };
  readonly octokitOptions: { readonly auth: object };
}

async function connect(
  probot: Probot,
  installationId: number,
  clock: MonotonicClock,
): Promise<InstallationOctokits> {
  const app = await probot.auth();
  const factory = ({ octokit, octokitOptions }: FactoryOptions): ProbotOctokit => {
    // Probot's own `request` for tokens does not know the base URL, and does not sign again by
    // GitHub's clock when ours is wrong.
    const auth = { ...octokitOptions.auth, installationId, request: app.request };
    return new octokit.constructor({ ...octokitOptions, auth });
  };
  const octokit = (await app.auth({ type: "installation", installationId, factory })) as ProbotOctokit;
  const granted = async (): Promise<Permissions> => {
    const parameters = { installation_id: installationId };
    const { data } = await app.request("GET /app/installations/{installation_id}", parameters);
    return Object(data.permissions) as Permissions;
  };
  return { octokit, ...tokenRenewal(octokit, granted, clock) };
}

/** A token that replaced a refused one. */
interface Renewed {
  readonly at: number;
  readonly token: Promise<string>;
  /** The value of `token`; null until it is minted. */
  minted: string | null;
  /** GitHub accepted it, so a later refusal means that it was revoked. */
  isAccepted: boolean;
}

/** Probot caches tokens for 59 minutes and does not renew one that GitHub refuses earlier. */
function tokenRenewal(
  octokit: ProbotOctokit,
  granted: () => Promise<Permissions>,
  clock: MonotonicClock,
): Omit<InstallationOctokits, "octokit"> {
  let last: Renewed | undefined;
  let isForgotten = false;

  function renewed(): Promise<string> {
    const token = octokit
      .auth({ type: "installation", refresh: true })
      .then((minted: unknown) => String(Object(minted).token));
    const current: Renewed = { at: clock.now(), token, minted: null, isAccepted: false };
    last = current;
    isForgotten = false;
    token.then(
      (minted) => void (current.minted = minted),
      () => {
        if (last === current) last = undefined;
      },
    );
    return token;
  }

  async function current(): Promise<Token> {
    const { token, permissions }: { token?: unknown; permissions?: unknown } = Object(
      await octokit.auth({ type: "installation" }),
    );
    return { token: String(token), permissions: Object(permissions) as Permissions };
  }

  return {
    async renewToken(refusedAuthorization) {
      const known = last;
      if (known === undefined || clock.now() - known.at >= REMINT_EVERY_MS) return await renewed();
      const token = await known.token;
      if (refusedAuthorization !== `token ${token}`) return token;
      if (!known.isAccepted) return null;
      // The first of concurrent calls renews it, the others use the result.
      return await (last === known || last === undefined ? renewed() : last.token);
    },
    renewForbiddenToken: renewalOfForbidden({ current, renew: renewed, granted }, clock),
    permissions: async () => (await current()).permissions,
    forgetToken() {
      isForgotten = true;
    },
    async renewForgottenToken() {
      return isForgotten ? await renewed() : null;
    },
    recordAccepted(authorization) {
      if (last?.minted && authorization === `token ${last.minted}`) last.isAccepted = true;
    },
  };
}

/** For requests that octokit makes itself, mainly for tokens. */
function mintingFetch(transport: Transport, clock: MonotonicClock) {
  return (url: string, init: RequestInit): Promise<CompleteResponse> => {
    const tokenFor = /\/app\/installations\/(\d+)\/access_tokens$/.exec(url)?.[1];
    const isMint = tokenFor !== undefined;
    const method = init.method ?? "GET";
    const isRepeatable = isMint || method === "GET";
    const route = isMint ? "POST /app/installations/{installation_id}/access_tokens" : `${method} (other)`;
    const about = { account: "app", route };
    const deadline = clock.now() + MINT_WITHIN_MS;
    return transport.send(url, init, { isRepeatable, deadline, about, ...(isMint && { tokenFor }) });
  };
}
