/** GitHub as a list of responses for one test. Each is sent once; other requests fail the test. */
import { afterAll } from "@jest/globals";
import nock from "nock";
import { pino } from "pino";
import type { Forge } from "../../../src/forge/forge.ts";
import type { RepositoryRef } from "../../../src/forge/values.ts";
import { testPrivateKey } from "./private-key.ts";
import { createGitHubForge, type GitHubForgeOptions } from "../../../src/forge/github/connect-github.ts";

// nock replaces the HTTP client of the process, which other test files use too.
if (!nock.isActive()) nock.activate();
afterAll(() => nock.restore());

export const SHA = "a".repeat(40);
export const OTHER_SHA = "b".repeat(40);
export const WEB: RepositoryRef = { installationId: 7, forgeId: 42, fullName: "acme/web" };

/** A clock that moves only when a test sleeps. */
export interface TestClock {
  now(): number;
  /** Runs during a sleep. */
  sleep: (ms: number) => Promise<void>;
  readonly slept: number[];
  pass(ms: number): void;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

export interface GitHubDouble {
  readonly forge: Forge;
  readonly clock: TestClock;
  readonly requests: Request[];
  readonly logged: string[];
  /** The response to the next such request; the path has no `/api/v3`. A function gets the body. */
  on(method: string, path: string, status: number, body?: unknown, headers?: Record<string, string>): void;
  /** Closes the connection instead. */
  cut(method: string, path: string): void;
  /** Responds after this delay. */
  late(method: string, path: string, ms: number, status: number, body?: unknown): void;
  /** Requests of a method whose path ends with this. */
  sent(method: string, ending: string): Request[];
  /** The number of minted installation tokens. */
  readonly minted: number;
  done(): void;
}

const TOO_EARLY =
  "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";

/** The time at which the App's JWT was issued, in seconds. */
function issuedAt(headers: Record<string, string | string[]>): number {
  const [, claims] = [headers["authorization"]].flat().join("").split(".");
  return Number(Object(JSON.parse(Buffer.from(claims ?? "", "base64url").toString())).iat);
}

export const API = "https://api.github.com";

interface DoubleOptions extends Partial<GitHubForgeOptions> {
  /** How far GitHub's clock is behind this process's. */
  readonly behindMs?: number;
  /** Of the installation's tokens. */
  readonly permissions?: Readonly<Record<string, string>>;
}

export function openGitHubDouble({
  behindMs = 0,
  permissions = {},
  ...options
}: DoubleOptions = {}): GitHubDouble {
  const baseUrl = options.baseUrl ?? API;
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname === "/" ? "" : pathname;
  nock.disableNetConnect();
  const clock = testClock();
  const requests: Request[] = [];
  const logged: string[] = [];
  let minted = 0;
  const pending: nock.Interceptor[] = [];
  const keep = (method: string, uri: string, body: unknown, headers: Record<string, string>): void => {
    const url = new URL(uri, origin);
    const path = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : url.pathname;
    requests.push({ method, path, query: Object.fromEntries(url.searchParams), body, headers });
  };
  const intercept = (method: string, path: string): nock.Interceptor => {
    const full = path === "/graphql" && prefix !== "" ? "/api/graphql" : `${prefix}${path}`;
    const made = nock(origin).intercept((uri) => new URL(uri, origin).pathname === full, method);
    pending.push(made);
    return made;
  };
  nock(origin)
    .persist()
    .post(/\/app\/installations\/\d+\/access_tokens$/)
    .optionally()
    .reply(function mint() {
      const now = Date.now() - behindMs;
      if (issuedAt(Object(this.req.headers)) * 1_000 > now + 5_000) {
        return [401, { message: TOO_EARLY }, { date: new Date(now).toUTCString() }];
      }
      minted += 1;
      return [201, { token: `ghs_test.${minted}`, expires_at: "2099-01-01T00:00:00Z", permissions }];
    });
  const reply = (
    interceptor: nock.Interceptor,
    method: string,
    status: number,
    body: unknown,
    headers = {},
  ) =>
    interceptor.reply(function response(uri, sent) {
      keep(method, uri, sent, Object(this.req.headers));
      const given: unknown = typeof body === "function" ? body(sent) : body;
      const json = given === undefined ? "" : typeof given === "string" ? given : JSON.stringify(given);
      return [status, json, { "content-type": "application/json", ...headers }];
    });
  /** Where only a part of a repository is missing, the repository is found. */
  const findsRepository = (path: string): void => {
    const [, repository] = /^(\/repositories\/\d+)\/./.exec(path) ?? [];
    if (repository !== undefined) nock(origin).get(`${prefix}${repository}`).optionally().reply(200, {});
  };
  return {
    forge: createGitHubForge({
      appId: 1,
      privateKey: testPrivateKey(),
      webhookSecret: "a secret of the test",
      log: pino({ level: "debug" }, { write: (line: string) => void logged.push(line) }),
      clock,
      requestTimeoutMs: 2_000,
      ...options,
      baseUrl,
    }),
    clock,
    requests,
    logged,
    on(method, path, status, body, headers) {
      reply(intercept(method, path), method, status, body, headers);
      if (status === 404) findsRepository(path);
    },
    cut: (method, path) =>
      void intercept(method, path).replyWithError(Object.assign(new Error("cut"), { code: "ECONNRESET" })),
    late: (method, path, ms, status, body) =>
      void reply(intercept(method, path).delay(ms), method, status, body),
    sent: (method, ending) =>
      requests.filter((request) => request.method === method && request.path.endsWith(ending)),
    get minted() {
      return minted;
    },
    done() {
      const open = nock.pendingMocks().filter((mock) => !mock.includes("access_tokens"));
      nock.cleanAll();
      nock.enableNetConnect();
      if (open.length > 0) throw new Error(`these requests are missing: ${open.join(", ")}`);
    },
  };
}

function testClock(): TestClock {
  let time = Date.parse("2026-11-20T12:00:00Z");
  const slept: number[] = [];
  return {
    now: () => time,
    async sleep(ms) {
      slept.push(ms);
      time += ms;
    },
    slept,
    pass(ms) {
      time += ms;
    },
  };
}
