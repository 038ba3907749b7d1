import {
  createServer,
  STATUS_CODES,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Connections } from "./connections.ts";

/** For the address and the headers; Node's default, set here because it is documented. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How often idle connections are closed while the server shuts down, in milliseconds. */
const SWEEP_MS = 100;
/**
 * How often Node checks for slow clients, in milliseconds. With its default of 30 seconds, a
 * timeout of 10 seconds would take up to 40.
 */
const CHECK_MS = 1_000;

/**
 * How long the socket of an unreadable or late request stays open after its response, in
 * milliseconds. A client may ignore the end of the response and keep sending.
 */
const DESTROY_AFTER_MS = 1_000;

/** What clients may use of the process. Times are in milliseconds. */
export interface ConnectionLimits {
  /** For the headers of a request. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /**
   * For a connection without traffic, for example if the client does not read its response. The
   * longest calls return within 80 seconds.
   */
  readonly silenceMs: number;
  /**
   * For an idle connection between two requests. Load balancers close theirs after 60 seconds by
   * default; a service that closes first sends nothing to their next request.
   */
  readonly keepAliveMs: number;
  /** Above it, each new connection closes one without a running request. */
  readonly maxConnections: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  silenceMs: 120_000,
  keepAliveMs: 75_000,
  maxConnections: 4_096,
};

export interface Listening {
  readonly baseUrl: string;
  /** Accepts no more connections, and resolves after the last running call has ended. */
  close(): Promise<void>;
}

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly limits: ConnectionLimits;
  /** Whether the caller of a request is authenticated. */
  readonly isAuthenticated: (response: ServerResponse) => boolean;
  /** Called when a connection is closed because there are too many. */
  readonly onFull: () => void;
}

/** Serves an app at an address. Throws if the address is not available. */
export async function listen(
  listener: RequestListener,
  { host, port, limits, isAuthenticated, onFull }: ListenOptions,
): Promise<Listening> {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: CHECK_MS,
    },
    listener,
  );
  server.timeout = limits.silenceMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.on("clientError", refuseUnreadable);
  const connections = new Connections(server, { most: limits.maxConnections, isAuthenticated, onFull });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return {
    baseUrl: `http://${shown.includes(":") ? `[${shown}]` : shown}:${bound}`,
    close: () => close(server, connections, limits.headersMs),
  };
}

/**
 * Closes kept-alive connections with their next response. Node neither counts a connection without a
 * request as idle nor checks for slow clients while a server closes, so both are done here: a
 * request has `arrivalMs` to arrive.
 */
const close = (server: Server, connections: Connections, arrivalMs: number): Promise<void> =>
  new Promise((resolve) => {
    server.prependListener("request", (_request, response) => void response.setHeader("Connection", "close"));
    server.close(() => resolve());
    const late = Date.now() + arrivalMs;
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of connections.incomplete()) {
        if (socket.bytesRead === 0 || Date.now() >= late) socket.destroy();
      }
    }, SWEEP_MS);
    server.once("close", () => clearInterval(sweep));
  });

const UNREADABLE: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The address and the headers are larger than 16 kB in total."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The body's chunk extensions are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time."],
};

/** Responds to bytes that are not valid HTTP, for which Express never gets a request. */
function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [statusCode, message] = UNREADABLE[error.code ?? ""] ?? [
    400,
    "The request could not be read as HTTP.",
  ];
  const reason = STATUS_CODES[statusCode] ?? "";
  const body = JSON.stringify({ message, error: reason, statusCode });
  socket.end(
    [
      `HTTP/1.1 ${statusCode} ${reason}`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
  setTimeout(() => socket.destroy(), DESTROY_AFTER_MS).unref();
}
