import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { makeCredentialKey } from "../../src/actions/credentials/credential-key.ts";
import { WEBHOOK_PATH } from "../../src/app.ts";

/** Sends without a key or a secret until it is stopped. Returns what stops it. */
type Flood = (baseUrl: string) => () => void;

const MIB = 1024 * 1024;
const SILENT_WEBHOOKS = 3;
const REPORTS = 300;
/** More than a process accepts by default. */
const CONNECTIONS = 4_300;
const LOOPS = 24;
const CALL_PAUSE_MS = 120;
/** The pause before a connection that was closed is opened again, in milliseconds. */
const REOPEN_MS = 1_000;

interface Held {
  readonly count: number;
  readonly head: () => readonly string[];
  readonly bodyBytes?: number;
}

/** Opens connections that send the start of a request and then nothing, again when they are closed. */
const hold =
  ({ count, head, bodyBytes = 0 }: Held): Flood =>
  (baseUrl) => {
    const { hostname, port } = new URL(baseUrl);
    const sockets = new Set<Socket>();
    let isStopped = false;
    const open = (): void => {
      if (isStopped) return;
      const socket = connect(Number(port), hostname);
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        setTimeout(open, REOPEN_MS).unref();
      });
      socket.resume();
      socket.write(head().join("\r\n"));
      if (bodyBytes > 0) socket.write(Buffer.alloc(bodyBytes, " "));
    };
    for (let nth = 0; nth < count; nth++) open();
    return () => {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
    };
  };

/** Makes about 200 calls a second. More would measure the processor: rates are limited by a proxy. */
const repeat =
  (path: () => string, headers: () => Record<string, string>): Flood =>
  (baseUrl) => {
    const stopped = new AbortController();
    const loop = async (): Promise<void> => {
      while (!stopped.signal.aborted) {
        const call = fetch(`${baseUrl}${path()}`, { headers: headers(), redirect: "manual" });
        await call.then((response) => response.arrayBuffer()).catch(() => undefined);
        await sleep(CALL_PAUSE_MS);
      }
    };
    for (let nth = 0; nth < LOOPS; nth++) void loop();
    return () => stopped.abort();
  };

const SIGNATURE = "0".repeat(64);
const lengthOf = (bytes: number): string => `Content-Length: ${bytes}`;

/** What an unknown sender can do, by name. */
export const FLOODS: Readonly<Record<string, Flood>> = {
  "silent webhooks": hold({
    count: SILENT_WEBHOOKS,
    bodyBytes: 16 * MIB - 64,
    head: () => [
      `POST ${WEBHOOK_PATH} HTTP/1.1`,
      "Host: x",
      "X-GitHub-Event: push",
      `X-GitHub-Delivery: ${randomUUID()}`,
      `X-Hub-Signature-256: sha256=${SIGNATURE}`,
      lengthOf(26_000_000),
      "",
      "",
    ],
  }),
  "silent reports": hold({
    count: REPORTS,
    bodyBytes: MIB - 1,
    head: () => [
      `POST /monitors/${randomUUID()} HTTP/1.1`,
      "Host: x",
      `Sentry-Hook-Signature: ${SIGNATURE}`,
      lengthOf(MIB),
      "",
      "",
    ],
  }),
  "silent connections": hold({ count: CONNECTIONS, head: () => ["GET /healthz HTTP/1.1", "X-More: "] }),
  "sign-ins": repeat(
    () => "/console/sign-in",
    () => ({}),
  ),
  "invalid keys": repeat(
    () => "/v1/me",
    () => ({ authorization: `Bearer ${invalidKey()}` }),
  ),
};

/** An API key with a correct checksum, which nobody has. */
const invalidKey = (): string => makeCredentialKey().text;
