import { once } from "node:events";
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from "node:net";
import { join } from "node:path";
import { Transform } from "node:stream";

/** A proxy to a database, whose connections can be closed. */
export interface DatabaseProxy {
  /** The database's URL through the proxy. */
  readonly url: string;
  /** Closes all connections and accepts no others until it is restored. */
  cut(): void;
  restore(): void;
  /** Closes a connection instead of passing on the first response with this text; resolves then. */
  loseResponseWith(text: string): Promise<void>;
  /** Delays the first statement with this text until it is released. */
  holdStatementWith(text: string): HeldStatement;
  stop(): Promise<void>;
}

export interface HeldStatement {
  /** Resolves when the statement has arrived. */
  readonly arrived: Promise<void>;
  resume(): void;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = addressOf(new URL(databaseUrl));
  const sockets = new Set<Socket>();
  let isCut = false;
  let losing: { readonly text: string; readonly lost: () => void } | null = null;
  let keeping: { readonly text: string; readonly keep: (passOn: () => void) => void } | null = null;
  const delayOrPass = (): Transform =>
    new Transform({
      transform: (call: Buffer, _, done) => {
        const passOn = (): void => done(null, call);
        if (keeping === null || !call.includes(keeping.text)) return passOn();
        const { keep: hold } = keeping;
        keeping = null;
        hold(passOn);
      },
    });
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (isCut) return void near.destroy();
    const far = connect(target);
    keep(far);
    far.on("data", (response: Buffer) => {
      if (losing === null || !response.includes(losing.text)) return;
      near.destroy();
      losing.lost();
      losing = null;
    });
    near.pipe(delayOrPass()).pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.searchParams.delete("host");
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut: () => {
      isCut = true;
      breakAll();
    },
    restore: () => {
      isCut = false;
    },
    loseResponseWith: (text) =>
      new Promise((lost) => {
        losing = { text, lost };
      }),
    holdStatementWith: (text) => {
      const kept = new Promise<() => void>((hold) => {
        keeping = { text, keep: hold };
      });
      return {
        arrived: kept.then(() => undefined),
        resume: () => void kept.then((passOn) => passOn()),
      };
    },
    stop: async () => {
      breakAll();
      server.close();
      await once(server, "close");
    },
  };
}

/** PostgreSQL's sockets are named in the query. */
function addressOf(url: URL): NetConnectOpts {
  const port = Number(url.port || 5432);
  const host = url.searchParams.get("host") ?? url.hostname;
  return host.startsWith("/") ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
}
