import { basename, join, resolve } from "node:path";
import type { Response } from "express";
import type { Logger } from "pino";
import { DEFAULT_CLAIMS_PER_CREDENTIAL } from "./actions/claims/claims.ts";
import type { Deps } from "./actions/deps.ts";
import { createExamine, type Examined } from "./actions/doctor/examine.ts";
import { createAuditChain } from "./actions/audit-chain.ts";
import { createFeed } from "./actions/feed.ts";
import { recordRefusal } from "./actions/installations/refused-installation.ts";
import { recordUnavailable } from "./actions/installations/unavailable-installation.ts";
import { createWebhookClient, type WebhookClientOptions } from "./actions/webhooks/webhook-client.ts";
import { createWebhookSender, type WebhookSenderOptions } from "./actions/webhooks/webhook-sender.ts";
import { signInKeyOf } from "./actions/sessions/sealed-sign-in.ts";
import { tokenKeyOf } from "./actions/sessions/sealed-token.ts";
import { createApp, WEBHOOK_PATH } from "./app.ts";
import { isAppKey } from "./forge/github/app.ts";
import { createGitHubForge } from "./forge/github/connect-github.ts";
import { createGitHubSignIn } from "./forge/github/people/sign-in.ts";
import { DEFAULT_LIMITS, type CallLimits } from "./http/call-limiter.ts";
import {
  missingSettings,
  signInStateOf,
  type Console,
  type ConsoleSettings,
} from "./http/console/console.ts";
import { DEFAULT_CONNECTION_LIMITS, listen, type ConnectionLimits } from "./http/listen.ts";
import type { MetricsAccess } from "./http/metrics.ts";
import { startWorker } from "./jobs/start-worker.ts";
import { createMetrics, observeForgeRequests } from "./metrics/metrics.ts";
import { newId } from "./new-id.ts";
import { connect, type DatabaseTimeouts } from "./store/db/connect.ts";
import { createForgeLimits } from "./store/forge/forge-limits.ts";
import { createTurns } from "./store/forge/forge-turns.ts";
import { deleteOtherInstances } from "./store/ops/instances.ts";
import { DISK_FULL, DiskSpace } from "./store/db/disk-space.ts";
import { migrate } from "./store/db/migrate.ts";
import { createLiveReads } from "./actions/live-reads.ts";
import { createCachedBoards } from "./store/cards/cached-boards.ts";
import { recordMissingFeature } from "./store/forge/repositories.ts";
import { DEFAULT_RETENTION, type Retention } from "./store/ops/retention.ts";
import { unlockDeadJobs } from "./webhooks/process-lane.ts";
import { createIntake } from "./webhooks/intake.ts";

/** How often deferred jobs are polled, in milliseconds. Jobs that are due now notify the worker. */
const POLL_JOBS_MS = 2_000;

export interface ServiceOptions {
  readonly databaseUrl: string;
  readonly host: string;
  readonly port: number;
  readonly github: {
    readonly apiUrl: string;
    readonly appId: string | number;
    readonly privateKey: string;
    readonly webhookSecrets: readonly string[];
    /** Paces the writes of all processes. Off for the sandbox forge, which needs no pauses. */
    readonly paceWrites: boolean;
    /** Shortens the pauses before repeated calls, for tests without `paceWrites`; by default 1. */
    readonly pauseFactor?: number;
  };
  readonly retention?: Retention;
  /** Who may read `/metrics`; by default nobody. */
  readonly metrics?: MetricsAccess;
  readonly limits?: CallLimits;
  readonly connections?: Partial<ConnectionLimits>;
  /** No other process uses this database, so what other processes had locked is free now. */
  readonly isAlone?: boolean;
  /** False leaves out jobs of the timetable and of the start, for tests that run them. */
  readonly followsTimetable?: boolean;
  /** How often deferred jobs are polled, in milliseconds; by default 2,000. */
  readonly pollJobsMs?: number;
  /** By default 10 seconds each. */
  readonly databaseTimeouts?: DatabaseTimeouts;
  /** The pause between the comments of an event stream, in milliseconds; by default 15,000. */
  readonly keepAliveMs?: number;
  /** Where outgoing webhooks may lead, and how they are repeated. */
  readonly webhooks?: WebhookClientOptions & WebhookSenderOptions;
  /** Claims that a credential may hold at a time; by default 3. */
  readonly claimsPerCredential?: number;
  /** By default nobody can sign in. */
  readonly console?: ConsoleSettings;
  readonly log: Logger;
}

export interface RunningService {
  readonly deps: Deps;
  readonly baseUrl: string;
  readonly webhookUrl: string;
  /** Makes `/readyz` return 503. Calls are still accepted. */
  drain(): void;
  /** Accepts no more calls, and resolves when running calls and jobs have finished. */
  stop(): Promise<void>;
}

const NO_CONSOLE: ConsoleSettings = {
  publicUrl: null,
  forgeUrl: "https://github.com",
  clientId: null,
  clientSecret: null,
  idleMs: 8 * 3_600_000,
  isSandbox: false,
};

const root = resolve(import.meta.dirname, "..");
/** In `dist`, as the compiled program is. */
const PAGES = join(basename(root) === "dist" ? root : join(root, "dist"), "console");

/** The console of this process. Without `publicUrl`, as in the sandbox, its URL is `ownUrl`. */
function consoleOf(
  settings: ConsoleSettings,
  ownUrl: () => string,
  examined: Pick<Examined, "db" | "databaseUrl">,
): Console {
  const { publicUrl, forgeUrl, clientId, clientSecret, idleMs, isSandbox, pagesFolder = PAGES } = settings;
  const missing = missingSettings(settings);
  const isComplete = missing.length === 0 && clientId !== null && clientSecret !== null;
  return {
    signIn: isComplete
      ? {
          forge: createGitHubSignIn({ pagesUrl: forgeUrl, clientId, clientSecret }),
          tokenKey: tokenKeyOf(clientSecret),
          signInKey: signInKeyOf(clientSecret),
          idleMs,
        }
      : null,
    missing,
    publicUrl: () => publicUrl ?? ownUrl(),
    forgeUrl,
    isSandbox,
    pagesFolder,
    examine: createExamine({
      ...examined,
      place: { publicUrl, path: WEBHOOK_PATH },
      signIn: isSandbox ? null : signInStateOf(settings),
    }),
  };
}

/** What runs outside a call to the API has no place among the calls. */
const hasNoPlace = (): void => {};

/** Connects, migrates, starts the job worker and listens. `stop` ends all of them. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { databaseUrl, github, log } = options;
  const disk = new DiskSpace(() => log.error("PostgreSQL has no room on its disk"));
  const db = connect({
    connectionString: databaseUrl,
    timeouts: options.databaseTimeouts,
    onError: (error) => log.warn({ err: error }, "a database connection broke"),
    onErrorCode: (code) => {
      if (code === DISK_FULL) disk.recordFull();
    },
  });
  try {
    await migrate(databaseUrl);
    const metrics = createMetrics();
    const forge = createGitHubForge({
      appId: github.appId,
      privateKey: github.privateKey,
      baseUrl: github.apiUrl,
      webhookSecret: github.webhookSecrets[0] ?? "",
      turns: github.paceWrites ? createTurns(db) : undefined,
      pauseFactor: github.pauseFactor,
      sharedLimits: createForgeLimits(db),
      onRefused: (installationId, message) => recordRefusal(deps, installationId, message),
      onUnavailable: (...args) => recordUnavailable(deps, ...args),
      onMissingFeature: (forgeId, what) => recordMissingFeature(db, forgeId, what, true),
      observe: observeForgeRequests(metrics),
      log,
    });
    const boards = createCachedBoards();
    const feed = createFeed(db, log, options);
    const auditChain = createAuditChain(db, log);
    const webhookClient = createWebhookClient(options.webhooks);
    const instanceId = newId();
    const { claimsPerCredential = DEFAULT_CLAIMS_PER_CREDENTIAL } = options;
    const liveReads = createLiveReads();
    const running = { boards, liveReads, feed, webhookClient, claimsPerCredential };
    const deps: Deps = { db, forge, log, metrics, ...running, leavePlace: hasNoPlace, instanceId, newId };
    const sender = createWebhookSender(deps, options.webhooks);
    if (options.isAlone) {
      await deleteOtherInstances(db, deps.instanceId);
      await unlockDeadJobs(deps, 0);
    }
    let isDraining = false;
    let ownUrl = "";
    const intake = createIntake(deps);
    const app = createApp(deps, {
      intake,
      webhookSecrets: github.webhookSecrets,
      metrics: options.metrics ?? "off",
      limits: options.limits ?? DEFAULT_LIMITS,
      hasAppKey: isAppKey(github.privateKey),
      disk,
      console: consoleOf(options.console ?? NO_CONSOLE, () => ownUrl, { db, databaseUrl }),
      isDraining: () => isDraining,
    });
    // Before the first call, so that this process is registered before it owns any work.
    const worker = await startWorker(deps, databaseUrl, {
      followsTimetable: options.followsTimetable ?? true,
      pollMs: options.pollJobsMs ?? POLL_JOBS_MS,
      retention: options.retention ?? DEFAULT_RETENTION,
    });
    const { host, port } = options;
    const limits = { ...DEFAULT_CONNECTION_LIMITS, ...options.connections };
    const listening = await listen(app, {
      host,
      port,
      limits,
      isAuthenticated: (response) => (response as Response).locals.clientId !== undefined,
      onFull: () => metrics.limits.inc({ limit: "connections" }),
    }).catch(async (error: unknown) => {
      await worker.stop();
      throw error;
    });
    ownUrl = listening.baseUrl;
    feed.start();
    auditChain.start();
    sender.start();
    const drain = (): void => {
      isDraining = true;
    };
    const end = async (): Promise<void> => {
      drain();
      feed.close();
      await listening.close();
      await intake.flushed();
      await worker.stop();
      await sender.stop();
      await Promise.all([feed.stop(), auditChain.stop()]);
      await db.destroy();
    };
    const { baseUrl } = listening;
    let ending: Promise<void> | undefined;
    const stop = (): Promise<void> => (ending ??= end());
    return { deps, baseUrl, webhookUrl: `${baseUrl}${WEBHOOK_PATH}`, drain, stop };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
