import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { senderOf } from "./authenticate.ts";

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Options {
  readonly most: number;
  /** Whether the caller of a request is authenticated. */
  readonly isAuthenticated: (response: ServerResponse) => boolean;
  /** Called when a connection is closed because there are too many. */
  readonly onFull: () => void;
}

/**
 * The open connections of a server. If there are too many, the oldest one without a running request
 * is closed, of the network with the most connections. Those of authenticated callers come last. So
 * a sender with many connections loses its own.
 */
export class Connections {
  readonly #options: Options;
  /** The latest call of each connection, by network; the oldest connection first. */
  readonly #networks = new Map<string, Map<Socket, Call | undefined>>();
  #count = 0;

  constructor(server: Server, options: Options) {
    this.#options = options;
    server.on("connection", (socket) => this.#add(socket));
    server.on("request", (request, response) => {
      this.#networks.get(senderOf(request))?.set(request.socket, { request, response });
    });
  }

  /** The connections whose latest request has not arrived completely, or that have none. */
  incomplete(): Socket[] {
    const all = [...this.#networks.values()].flatMap((sockets) => [...sockets]);
    return all.filter(([, call]) => !call?.request.complete).map(([socket]) => socket);
  }

  #add(socket: Socket): void {
    // The address of a closed socket is not known any more.
    const network = senderOf({ socket });
    const sockets = this.#networks.get(network) ?? new Map<Socket, Call | undefined>();
    this.#networks.set(network, sockets.set(socket, undefined));
    this.#count++;
    socket.once("close", () => this.#remove(network, socket));
    if (this.#count <= this.#options.most) return;
    this.#options.onFull();
    const closed = this.#idle(socket) ?? { network, socket };
    // Before its event, so that the next connection closes another one.
    this.#remove(closed.network, closed.socket);
    closed.socket.destroy();
  }

  #remove(network: string, socket: Socket): void {
    const sockets = this.#networks.get(network);
    if (!sockets?.delete(socket)) return;
    this.#count--;
    if (sockets.size === 0) this.#networks.delete(network);
  }

  /** The connection to close instead of the newest one. */
  #idle(newest: Socket): { network: string; socket: Socket } | undefined {
    const bySize = [...this.#networks].toSorted(([, one], [, other]) => other.size - one.size);
    // A kept-alive connection of an authenticated caller may be about to carry the next call.
    for (const mayBeAuthenticated of [false, true]) {
      for (const [network, sockets] of bySize) {
        for (const [socket, call] of sockets) {
          if (socket === newest || this.#isServed(call)) continue;
          if (mayBeAuthenticated || !call || !this.#options.isAuthenticated(call.response))
            return { network, socket };
        }
      }
    }
    return undefined;
  }

  /** Whether the service works on the call, or still responds to an authenticated caller. */
  #isServed(call: Call | undefined): boolean {
    if (!call || call.response.writableFinished) return false;
    const { request, response } = call;
    return this.#options.isAuthenticated(response) || (request.complete && !response.headersSent);
  }
}
