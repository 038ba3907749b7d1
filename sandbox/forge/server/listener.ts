import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Express } from "express";

/** The port a forge is reached at. */
export interface ForgeListener {
  /** `http://127.0.0.1:PORT` */
  readonly root: string;
  /** From now on this answers, also those who called before. */
  serve(app: Express): void;
  /** Takes no more calls, lets those under way finish while `last` runs, then cuts what is left. */
  close(last?: () => Promise<void>): Promise<void>;
}

/** Takes a port before there is anything behind it: every answer of the forge carries its own address. */
export async function openPort(host: string, port: number): Promise<ForgeListener> {
  const server = createServer();
  let ready: ((app: Express) => void) | undefined;
  const app = new Promise<Express>((resolve) => {
    ready = resolve;
  });
  server.on("request", (request, response) => void app.then((handle) => handle(request, response)));
  const root = await listen(server, host, port);
  return {
    root,
    serve: (handle) => ready?.(handle),
    async close(last) {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await last?.();
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
