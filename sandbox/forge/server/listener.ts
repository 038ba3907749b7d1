import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Express } from "express";

export interface ForgeListener {
  /** `http://127.0.0.1:PORT` */
  readonly root: string;
  /** Handles all requests with `app`, including those already waiting. */
  serve(app: Express): void;
  /** Accepts no more requests, runs `beforeCut` while open ones finish, then closes all. */
  close(beforeCut?: () => Promise<void>): Promise<void>;
}

/** Listens before the app exists, because responses contain the forge's address. */
export async function openPort(host: string, port: number): Promise<ForgeListener> {
  const server = createServer();
  let resolveApp: ((app: Express) => void) | undefined;
  const app = new Promise<Express>((resolve) => {
    resolveApp = resolve;
  });
  server.on("request", (request, response) => void app.then((handle) => handle(request, response)));
  const root = await listen(server, host, port);
  return {
    root,
    serve: (handler) => resolveApp?.(handler),
    async close(beforeCut) {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await beforeCut?.();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${taken}`;
}
