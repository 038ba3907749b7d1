import { createSign } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInstallationToken } from "../../../sandbox/forge/app-identity.ts";
import { testPrivateKey } from "./private-key.ts";
import { startForge, type ForgeOptions, type RunningForge } from "../../../sandbox/forge/start-forge.ts";

/** A received webhook. */
export interface Received {
  readonly event: string;
  readonly action: string | null;
  readonly guid: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface ForgeApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, or undefined if it is not JSON. */
  readonly body: unknown;
  /** A value of the body by its path, such as `data.repository.id`; throws if it is missing. */
  at(path: string): string;
  number(path: string): number;
}

export interface TestForge {
  readonly forge: RunningForge;
  /** The received webhooks, oldest first. */
  readonly received: Received[];
  /** Calls the REST API as the first user, who administers everything, unless a token is given. */
  readonly api: (method: string, path: string, body?: unknown, token?: string) => Promise<ForgeApiResponse>;
  readonly graphql: (query: string, variables?: object, token?: string) => Promise<ForgeApiResponse>;
  /** The App's credentials as a new JWT. */
  readonly appJwt: () => string;
  /** A token of an account's installation. */
  readonly installationToken: (account?: string) => string;
  /** Waits until all webhooks are sent; returns those received, each as `event` or `event.action`. */
  readonly events: () => Promise<string[]>;
  /** Forgets the received webhooks after the last pending one arrived. */
  readonly forgetReceived: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts a forge and a receiver of its webhooks, both on free ports. */
export async function startTestForge(options: Partial<ForgeOptions> = {}): Promise<TestForge> {
  const dataDir = mkdtempSync(join(tmpdir(), "test-forge-"));
  const receiver = await receiveWebhooks();
  const forge = await startForge({
    dataDir,
    port: 0,
    webhookUrl: receiver.url,
    ...options,
    app: { privateKey: testPrivateKey(), ...options.app },
  });
  const userToken = forge.users[0]?.token ?? "";
  return {
    forge,
    received: receiver.received,
    api: (method, path, body, token = userToken) => call(`${forge.apiUrl}${path}`, method, body, token),
    graphql: (query, variables = {}, token = userToken) =>
      call(`${forge.rootUrl}/api/graphql`, "POST", { query, variables }, token),
    appJwt: () => signJwt(forge.app.privateKey, forge.app.id),
    installationToken(account = "acme") {
      const { state } = forge.context;
      const [owner] = state.accounts.inGroup(account);
      const [installation] = state.installations.inGroup(owner?.id ?? 0);
      if (installation === undefined) throw new Error(`the App is not installed on ${account}`);
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      return createInstallationToken(state, installation, {
        permissions: null,
        repositoryIds: null,
        expiresAt,
      }).token;
    },
    async events() {
      await forge.waitUntilIdle();
      return receiver.received.map(({ event, action }) => (action === null ? event : `${event}.${action}`));
    },
    async forgetReceived() {
      await forge.waitUntilIdle();
      receiver.received.length = 0;
    },
    async stop() {
      await forge.stop();
      await receiver.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

function signJwt(privateKey: string, appId: number): string {
  const now = Math.floor(Date.now() / 1000);
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iat: now - 60, exp: now + 300, iss: String(appId) })}`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(privateKey, "base64url")}`;
}

async function call(url: string, method: string, body: unknown, token: string): Promise<ForgeApiResponse> {
  const response = await fetch(url, {
    method,
    redirect: "manual",
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return responseOf(response, await response.text());
}

function responseOf(response: Response, text: string): ForgeApiResponse {
  const body = parsed(text);
  const find = (path: string): unknown => {
    let value = body;
    for (const name of path.split(".")) {
      if (typeof value !== "object" || value === null || !(name in value))
        throw new Error(`${path} is missing in ${text}`);
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
    return value;
  };
  const { status, headers } = response;
  return {
    status,
    headers,
    text,
    body,
    at: (path) => String(find(path)),
    number: (path) => Number(find(path)),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function receiveWebhooks() {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString("utf8");
      const payload = (parsed(text) ?? {}) as Received["payload"];
      const { action = null } = payload as { action?: string };
      const header = (name: string) => String(request.headers[name]);
      received.push({
        event: header("x-github-event"),
        action,
        guid: header("x-github-delivery"),
        headers: request.headers,
        text,
        payload,
      });
      response.end("ok");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { received, url: `http://127.0.0.1:${port}/webhooks`, stop };
}
