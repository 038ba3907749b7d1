import { createServer, request as send, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One URL for several processes, like a load balancer. */
export interface Balancer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Forwards calls in turn. Skips upstreams without a listener; closes calls whose upstream dies. */
export async function startBalancer(upstreams: readonly string[]): Promise<Balancer> {
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      turn += 1;
      const order = upstreams.map((_, at) => upstreams[(at + turn) % upstreams.length] ?? "");
      forward(order, incoming, Buffer.concat(parts), outgoing);
    });
  });
  // Clients reuse idle connections for as long as the upstreams allow.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(
  [upstream, ...others]: readonly string[],
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): void {
  if (upstream === undefined) {
    outgoing.destroy();
    return;
  }
  const { method = "GET", headers, url = "/" } = incoming;
  const call = send(`${upstream}${url}`, { method, headers, agent: false }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(outgoing);
    response.on("error", () => outgoing.destroy());
  });
  call.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNREFUSED") forward(others, incoming, body, outgoing);
    else outgoing.destroy();
  });
  call.end(body);
}
