import { LRUCache } from "lru-cache";
import { Probot, ProbotOctokit } from "probot";
import type { Logger } from "pino";
import type { ForgeClock } from "./clock.ts";
import type { Arrived, Transport } from "./transport.ts";

/** A second token is asked for at most this often, should GitHub keep refusing what we show, and never have accepted the first. */
const REMINT_EVERY_MS = 60_000;
const MINT_WITHIN_MS = 20_000;
/** Octokits kept, one pair for each installation lately called. */
const MAX_INSTALLATIONS = 500;

export interface AppOptions {
  readonly appId: number | string;
  readonly privateKey: string;
  /** `https://api.github.com`, or `https://<host>/api/v3` of an Enterprise Server. */
  readonly baseUrl: string;
  readonly webhookSecret: string;
  readonly log: Logger;
}

export interface InstallationOctokits {
  readonly octokit: ProbotOctokit;
  /** A token newer than the one shown, or null when there is none to be had now. */
  renewToken(shownAuthorization: string | null): Promise<string | null>;
  /** Tells that GitHub has accepted a token. */
  noteAccepted(shownAuthorization: string | null): void;
}

export interface Octokits {
  /** Authenticated as the App itself. */
  readonly asApp: () => Promise<ProbotOctokit>;
  readonly asInstallation: (installationId: number) => Promise<InstallationOctokits>;
  /** Authenticated as nobody. */
  readonly asNobody: () => ProbotOctokit;
}

type Octokit = typeof ProbotOctokit;

/** The App on one GitHub, through probot: it signs as the App, mints and keeps installation tokens. */
export function createOctokits(options: AppOptions, transport: Transport, clock: ForgeClock): Octokits {
  const request = { fetch: mintingFetch(transport, clock), log: options.log };
  // Probot logs the bodies it sends at debug level; they hold people's texts.
  const level = options.log.isLevelEnabled("debug") ? "info" : options.log.level;
  const log = options.log.child({}, { level });
  // Neither plugin may decide when to ask: octokit's retries repeat writes blindly (a refused merge
  // took 4 calls and 16 s), and its throttling knows of this process alone, takes every GraphQL call
  // for a write and sleeps to the reset of the hourly limit. Only the function form reaches probot's
  // own throttle defaults.
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
  const kept = new LRUCache<number, Promise<InstallationOctokits>>({ max: MAX_INSTALLATIONS });

  function asInstallation(installationId: number): Promise<InstallationOctokits> {
    const known = kept.get(installationId);
    if (known !== undefined) return known;
    const made = connect(probot, installationId, clock);
    kept.set(installationId, made);
    made.catch(() => kept.delete(installationId));
    return made;
  }

  return {
    asApp: () => probot.auth(),
    asInstallation,
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
  clock: ForgeClock,
): Promise<InstallationOctokits> {
  const app = await probot.auth();
  const factory = ({ octokit, octokitOptions }: FactoryOptions): ProbotOctokit => {
    // The function probot renews tokens with knows neither the base URL, nor, as this one does, to
    // sign again by GitHub's clock where ours is wrong.
    const auth = { ...octokitOptions.auth, installationId, request: app.request };
    return new octokit.constructor({ ...octokitOptions, auth });
  };
  const octokit = (await app.auth({ type: "installation", installationId, factory })) as ProbotOctokit;
  return { octokit, ...tokenRenewal(octokit, clock) };
}

/** A token that replaced a refused one. */
interface Renewed {
  readonly at: number;
  readonly token: Promise<string>;
  /** The same once it is there. */
  minted: string | null;
  /** Whether GitHub has accepted it: then it was good, and is refused for having been revoked since. */
  isAccepted: boolean;
}

/** Tokens are kept for 59 minutes and not renewed by themselves when GitHub refuses one before. */
function tokenRenewal(octokit: ProbotOctokit, clock: ForgeClock): Omit<InstallationOctokits, "octokit"> {
  let last: Renewed | undefined;

  function renewed(): Promise<string> {
    const token = octokit
      .auth({ type: "installation", refresh: true })
      .then((minted: unknown) => String(Object(minted).token));
    const made: Renewed = { at: clock.now(), token, minted: null, isAccepted: false };
    last = made;
    made.token.then(
      (token) => void (made.minted = token),
      // One that was not to be had is no token that is refused.
      () => {
        if (last === made) last = undefined;
      },
    );
    return made.token;
  }

  return {
    async renewToken(shownAuthorization) {
      const known = last;
      if (known === undefined || clock.now() - known.at >= REMINT_EVERY_MS) return await renewed();
      const token = await known.token;
      if (shownAuthorization !== `token ${token}`) return token;
      if (!known.isAccepted) return null;
      // Of all that meet it the first has it replaced.
      return await (last === known || last === undefined ? renewed() : last.token);
    },
    noteAccepted(shownAuthorization) {
      if (last?.minted && shownAuthorization === `token ${last.minted}`) last.isAccepted = true;
    },
  };
}

/** What octokit sends on its own account: tokens being minted, and calls as the App. */
function mintingFetch(transport: Transport, clock: ForgeClock) {
  return (url: string, init: RequestInit): Promise<Arrived> => {
    const isMint = /\/app\/installations\/\d+\/access_tokens$/.test(url);
    const method = init.method ?? "GET";
    const isRepeatable = isMint || method === "GET";
    const route = isMint ? "POST /app/installations/{installation_id}/access_tokens" : `${method} (other)`;
    const about = { account: "app", route };
    return transport.send(url, init, { isRepeatable, deadline: clock.now() + MINT_WITHIN_MS, about });
  };
}
