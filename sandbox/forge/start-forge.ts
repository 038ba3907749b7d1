import { join } from "node:path";
import { recover } from "./recover.ts";
import { newClientSecret, type AppChoices } from "./app-identity.ts";
import type { ForgeContext, ForgeLog, ForgeSettings } from "./context.ts";
import { makeControl, type ForgeControl } from "./control/control.ts";
import { serveControl } from "./control/serve-control.ts";
import { isoSeconds } from "./git/commits.ts";
import { openGit } from "./git/git.ts";
import { serveGraphql } from "./graphql/serve-graphql.ts";
import type { ForgeHooks } from "./hooks.ts";
import { writeGitHooks } from "./smart-http/receive-push.ts";
import { makeBackground, makeKeyedQueue } from "./background.ts";
import { seed } from "./seed.ts";
import { createForgeApp } from "./server/forge-app.ts";
import { makeWebUi, type WebUi } from "./web-ui.ts";
import { openPort, type ForgeListener } from "./server/listener.ts";
import { makeRequestLog, type RequestLog } from "./server/request-log.ts";
import type { AppRow } from "./rows.ts";
import { openState } from "./state.ts";
import { makeWebhookSender } from "./webhooks/sender.ts";
import { makeWorld, type ForgeUser, type World } from "./world.ts";

export interface ForgeOptions {
  readonly dataDir: string;
  readonly host?: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Null disables webhooks. */
  readonly webhookUrl: string | null;
  /** Used at the first start of a data directory only. */
  readonly app?: Partial<AppChoices>;
  /** False: the first start creates no repositories and no installation. */
  readonly seed?: boolean;
  readonly settings?: Partial<ForgeSettings>;
  readonly hooks?: ForgeHooks;
  /** Enables `/_control` with this bearer token. */
  readonly controlToken?: string;
  /** The `PATH` to find git in. */
  readonly searchPath?: string;
  readonly webhookTimeoutMs?: number;
  readonly clock?: () => Date;
  readonly log?: ForgeLog;
}

export interface RunningForge extends World {
  /** `http://127.0.0.1:PORT/api/v3` */
  readonly apiUrl: string;
  readonly rootUrl: string;
  /** Repositories are at `<cloneUrl>/<owner>/<name>.git`. */
  readonly cloneUrl: string;
  readonly app: Pick<
    AppRow,
    "id" | "slug" | "clientId" | "clientSecret" | "botId" | "privateKey" | "webhookSecret"
  >;
  readonly users: readonly ForgeUser[];
  readonly webUi: WebUi;
  readonly requests: RequestLog;
  readonly control: ForgeControl;
  /** `/_control`; null without a control token. */
  readonly controlEndpoint: { readonly url: string; readonly token: string } | null;
  readonly settings: ForgeSettings;
  readonly context: ForgeContext;
  setWebhookUrl(url: string | null): void;
  /** Waits up to `ms` until all webhooks are sent and all background work is done. */
  waitUntilIdle(ms?: number): Promise<void>;
  stop(): Promise<void>;
}

const CONTROL_PATH = "/_control";
const SILENT_LOG: ForgeLog = { error: () => undefined };

/** Starts a forge on a data directory, which the first start fills. */
export async function startForge(options: ForgeOptions): Promise<RunningForge> {
  const listener = await openPort(options.host ?? "127.0.0.1", options.port);
  try {
    return await startOnPort(listener, options);
  } catch (error) {
    await listener.close();
    throw error;
  }
}

async function startOnPort(listener: ForgeListener, options: ForgeOptions): Promise<RunningForge> {
  const { root } = listener;
  const unattached = makeControl({ graphql: serveGraphql, ...options.hooks });
  const { context, waitUntilIdle, stop, close } = openContext({ ...options, hooks: unattached.hooks }, root);
  const control = unattached.attach(context);
  if (context.state.apps.all().length === 0) await seed(context, options.app ?? {}, options.seed === false);
  addMissingSecret(context);
  await recover(context);
  const requests = makeRequestLog();
  const token = options.controlToken;
  listener.serve(createForgeApp(context, withControl(unattached.hooks, control, token), requests));
  return {
    ...makeWorld(context),
    webUi: makeWebUi(context),
    apiUrl: context.urls.api,
    rootUrl: root,
    cloneUrl: root,
    app: appOf(context),
    get users() {
      return usersOf(context);
    },
    requests,
    control,
    controlEndpoint: token === undefined ? null : { url: `${root}${CONTROL_PATH}`, token },
    settings: context.settings,
    context,
    setWebhookUrl(url) {
      context.webhooks.url = url;
    },
    waitUntilIdle: (ms = 5_000) => waitUntilIdle(ms),
    async stop() {
      control.reset();
      stop();
      await listener.close(() => waitUntilIdle(2_000));
      close();
    },
  };
}

/** The data of versions without sign-in has no client secret. */
function addMissingSecret({ state }: ForgeContext): void {
  for (const { id, clientSecret } of state.apps.all())
    if (!clientSecret) state.apps.update(id, { clientSecret: newClientSecret() });
}

function withControl(hooks: ForgeHooks, control: ForgeControl, token: string | undefined): ForgeHooks {
  if (token === undefined) return hooks;
  return {
    ...hooks,
    mount(app, forge) {
      app.use(CONTROL_PATH, serveControl(control, token));
      hooks.mount?.(app, forge);
    },
  };
}

function openContext(options: ForgeOptions, root: string) {
  const clock = options.clock ?? (() => new Date());
  const log = options.log ?? SILENT_LOG;
  const state = openState(options.dataDir);
  const git = openGit({
    folder: join(options.dataDir, "repositories"),
    snapshotsFolder: join(options.dataDir, "snapshots"),
    hooksFolder: writeGitHooks(options.dataDir),
    ...(options.searchPath === undefined ? {} : { searchPath: options.searchPath }),
  });
  const webhooks = makeWebhookSender({
    state,
    url: options.webhookUrl,
    now: clock,
    around: options.hooks?.aroundDelivery,
    timeoutMs: options.webhookTimeoutMs ?? 10_000,
  });
  const { inBackground, stopping, ...background } = makeBackground(log);
  const context: ForgeContext = {
    state,
    git,
    webhooks,
    settings: { ...DEFAULT_SETTINGS, ...options.settings },
    urls: { root, api: `${root}/api/v3`, graphql: `${root}/api/graphql` },
    manifestCodes: new Map(),
    oauthCodes: new Map(),
    refreshTokens: new Map(),
    now: () => isoSeconds(clock()),
    withLock: makeKeyedQueue(),
    inBackground,
    stopping,
    log,
  };
  const waitUntilIdle = async (ms: number) => {
    await background.waitUntilIdle(ms);
    await webhooks.waitUntilIdle(ms);
  };
  const close = () => {
    webhooks.close();
    git.close();
    state.close();
  };
  return { context, waitUntilIdle, stop: background.stop, close };
}

const DEFAULT_SETTINGS: ForgeSettings = {
  rateLimit: 5_000,
  writesPerMinute: Infinity,
  mergeabilityDelay: 0,
  asyncMergeDelayMs: 0,
  closesEmptiedPulls: true,
  hasAsyncMerge: true,
  hasPathsById: true,
};

function appOf(context: ForgeContext): RunningForge["app"] {
  const [app] = context.state.apps.all();
  if (app === undefined) throw new Error("The forge has no App");
  const { id, slug, clientId, clientSecret, botId, privateKey, webhookSecret } = app;
  return { id, slug, clientId, clientSecret, botId, privateKey, webhookSecret };
}

function usersOf(context: ForgeContext): ForgeUser[] {
  const { accounts, tokens } = context.state;
  const personal = tokens.all().filter((token) => token.accountId !== null && token.isOfApp !== true);
  return personal.map((token) => {
    const account = accounts.need(token.accountId ?? 0);
    return { id: account.id, login: account.login, token: token.token };
  });
}
