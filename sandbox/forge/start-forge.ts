import { join } from "node:path";
import { recover } from "./recover.ts";
import type { AppChoices } from "./app-identity.ts";
import type { ForgeContext, ForgeLog, ForgeSettings } from "./context.ts";
import { makeControl, type ForgeControl } from "./control/control.ts";
import { serveControl } from "./control/serve-control.ts";
import { isoSeconds } from "./git/commits.ts";
import { openGit } from "./git/git.ts";
import { answerGraphql } from "./graphql/answer-graphql.ts";
import type { ForgeHooks } from "./hooks.ts";
import { writeGitHooks } from "./smart-http/receive-push.ts";
import { makeBackground, makeKeyedQueue } from "./background.ts";
import { seed } from "./seed.ts";
import { createForgeApp } from "./server/forge-app.ts";
import { makeWebUi, type WebUi } from "./web-ui.ts";
import { openPort, type ForgeListener } from "./server/listener.ts";
import { makeRequestLog, type RequestLog } from "./server/request-log.ts";
import { openState } from "./state.ts";
import { makeWebhookSender } from "./webhooks/sender.ts";
import { makeWorld, type ForgeUser, type World } from "./world.ts";

export interface ForgeOptions {
  readonly dataDir: string;
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Where the App's webhooks go; null sends none. */
  readonly webhookUrl: string | null;
  /** Only read at the first start of a data directory. */
  readonly app?: Partial<AppChoices>;
  /** False leaves out the repositories and the installation of the first start. */
  readonly seed?: boolean;
  readonly settings?: Partial<ForgeSettings>;
  readonly hooks?: ForgeHooks;
  /** Serves the control of misbehaviour below `/_control` to whoever bears this token; without one there is none. */
  readonly controlToken?: string;
  /** Where git is found, as in `PATH`. */
  readonly searchPath?: string;
  readonly webhookTimeoutMs?: number;
  readonly clock?: () => Date;
  readonly log?: ForgeLog;
}

export interface RunningForge extends World {
  /** `http://127.0.0.1:PORT/api/v3` */
  readonly apiUrl: string;
  readonly rootUrl: string;
  /** Clone from `<cloneUrl>/<owner>/<name>.git`. */
  readonly cloneUrl: string;
  readonly app: {
    readonly id: number;
    readonly slug: string;
    readonly clientId: string;
    readonly botId: number;
    readonly privateKey: string;
    readonly webhookSecret: string;
  };
  readonly users: readonly ForgeUser[];
  /** What people do on GitHub's pages. */
  readonly pages: WebUi;
  readonly requests: RequestLog;
  /** Makes it misbehave. */
  readonly control: ForgeControl;
  /** Where and with which token others make it misbehave; null where it was started without. */
  readonly controlDoor: ControlEndpoint | null;
  /** May be changed while it runs. */
  readonly settings: ForgeSettings;
  readonly context: ForgeContext;
  setWebhookUrl(url: string | null): void;
  /** Waits until every webhook so far was sent and all background work is done. */
  settle(ms?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface ControlEndpoint {
  readonly url: string;
  readonly token: string;
}

const CONTROL_PATH = "/_control";
const SILENT_LOG: ForgeLog = { info: () => undefined, error: () => undefined };

/** Starts a forge on a data directory, filling it at its first start. */
export async function startForge(options: ForgeOptions): Promise<RunningForge> {
  const door = await openPort(options.host ?? "127.0.0.1", options.port);
  try {
    return await startOnPort(door, options);
  } catch (error) {
    await door.close();
    throw error;
  }
}

async function startOnPort(door: ForgeListener, options: ForgeOptions): Promise<RunningForge> {
  const unattached = makeControl({ graphql: answerGraphql, ...options.hooks });
  const { context, settle, end, close } = openContext({ ...options, hooks: unattached.hooks }, door.root);
  const control = unattached.attach(context);
  if (context.state.apps.all().length === 0) await seed(context, options.app ?? {}, options.seed === false);
  await recover(context);
  const requests = makeRequestLog();
  door.serve(createForgeApp(context, withControl(unattached.hooks, control, options.controlToken), requests));
  return {
    ...makeWorld(context),
    pages: makeWebUi(context),
    apiUrl: context.urls.api,
    rootUrl: door.root,
    cloneUrl: door.root,
    app: appOf(context),
    get users() {
      return usersOf(context);
    },
    requests,
    control,
    controlDoor:
      options.controlToken === undefined
        ? null
        : { url: `${door.root}${CONTROL_PATH}`, token: options.controlToken },
    settings: context.settings,
    context,
    setWebhookUrl(url) {
      context.webhooks.url = url;
    },
    settle: (ms = 5_000) => settle(ms),
    async stop() {
      control.reset();
      end();
      await door.close(() => settle(2_000));
      close();
    },
  };
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
    viewsFolder: join(options.dataDir, "older-views"),
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
  const { later, ending, ...background } = makeBackground(log);
  const context: ForgeContext = {
    state,
    git,
    webhooks,
    settings: { ...DEFAULT_SETTINGS, ...options.settings },
    urls: { root, api: `${root}/api/v3`, graphql: `${root}/api/graphql` },
    manifestCodes: new Map(),
    now: () => isoSeconds(clock()),
    exclusively: makeKeyedQueue(),
    later,
    ending,
    log,
  };
  const settle = async (ms: number) => {
    await background.waitUntilIdle(ms);
    await webhooks.waitUntilIdle(ms);
  };
  const close = () => {
    webhooks.close();
    git.close();
    state.close();
  };
  return { context, settle, end: background.end, close };
}

const DEFAULT_SETTINGS: ForgeSettings = {
  rateLimit: 5_000,
  writesPerMinute: Infinity,
  mergeabilityDelay: 0,
  asyncMergeDelayMs: 0,
  hasAsyncMerge: true,
};

function appOf(context: ForgeContext): RunningForge["app"] {
  const [app] = context.state.apps.all();
  if (app === undefined) throw new Error("no App");
  const { id, slug, clientId, botId, privateKey, webhookSecret } = app;
  return { id, slug, clientId, botId, privateKey, webhookSecret };
}

function usersOf(context: ForgeContext): ForgeUser[] {
  const { accounts, tokens } = context.state;
  const people = tokens.all().filter((token) => token.accountId !== null);
  return people.map((token) => {
    const account = accounts.need(token.accountId ?? 0);
    return { id: account.id, login: account.login, token: token.token };
  });
}
