import { setTimeout as sleep } from "node:timers/promises";
import { callbackify } from "node:util";
import { Client, type ClientConfig } from "pg";

/** How long a host may take to say whether it is the primary, in milliseconds. */
const INSPECTION_TIMEOUT_MS = 5_000;
/** How long the other hosts may take after the first one has responded, in milliseconds. */
const OTHERS_MS = 1_000;
/**
 * PostgreSQL's code of a connection that cannot be opened. After the code of a starting server
 * (57P03), graphile-worker would pause for up to three minutes.
 */
const CANNOT_CONNECT = "08001";

/**
 * The connection URLs of the single hosts of a URL such as `postgres://user@one:5432,two:5432/name`.
 * Without several hosts, the URL itself.
 */
export function hostUrls(connectionString: string): string[] {
  const [, before = "", hosts = "", after = ""] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(connectionString) ?? [];
  const several = hosts.split(",").filter((host) => host !== "");
  return several.length < 2 ? [connectionString] : several.map((host) => `${before}${host}${after}`);
}

interface Inspected {
  readonly host: string;
  readonly port: number;
  /** In hexadecimal, padded. Each promotion of a standby starts a higher one. */
  readonly timeline: string;
}

/** Fails on a standby. Returns no row if the server refuses writes for another reason. */
const TIMELINE = `
  select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline
   where current_setting('transaction_read_only') = 'off'`;

async function inspect(connectionString: string): Promise<Inspected> {
  const client = new Client({
    connectionString,
    application_name: "trunkline finds the primary",
    connectionTimeoutMillis: INSPECTION_TIMEOUT_MS,
    query_timeout: INSPECTION_TIMEOUT_MS,
  });
  // A connection that breaks later rejects its query.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ timeline: string }>(TIMELINE);
    const [found] = rows;
    if (found === undefined) throw new Error("It accepts no writes.");
    return { host: client.host, port: client.port, timeline: found.timeline };
  } finally {
    // Waits for the server, which may never respond.
    client.end().catch(() => undefined);
  }
}

/**
 * Finds the host that accepts writes. If several do, the standby that was promoted last: an old
 * primary that is started again is not used. Without a `known` timeline, all hosts are waited for.
 * Later, the others may take a second longer than the first one, which may be the old primary.
 */
async function findPrimary(urls: readonly string[], known: string | null): Promise<Inspected> {
  const found: Inspected[] = [];
  const inspections = urls.map(async (url) => {
    const inspected = await inspect(url);
    const { host, port, timeline } = inspected;
    if (known !== null && timeline < known) throw new Error(`${host}:${port} is an old primary`);
    found.push(inspected);
  });
  const all = Promise.allSettled(inspections);
  const enough =
    known === null
      ? all
      : Promise.any(inspections).then(
          () => sleep(OTHERS_MS, undefined, { ref: false }),
          () => all,
        );
  await Promise.race([all, enough]);
  const [newest] = found.toSorted((one, other) => (one.timeline < other.timeline ? 1 : -1));
  if (newest) return newest;
  const reasons = (await all).flatMap((each) => (each.status === "rejected" ? [messageOf(each.reason)] : []));
  const message = `No host of DATABASE_URL is a primary that accepts writes: ${reasons.join("; ")}`;
  throw Object.assign(new Error(message), { code: CANNOT_CONNECT });
}

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));

/** PostgreSQL's code of a connection that an administrator closed. */
const ADMIN_SHUTDOWN = "57P01";

/** Fails the statements of a connection. The old primary may be silent, or run again later. */
function drop({ connection }: Client): void {
  connection.stream.destroy(Object.assign(new Error("The primary has changed."), { code: ADMIN_SHUTDOWN }));
}

/**
 * The class of pg's clients for a connection URL. If the URL has several hosts, a client connects to
 * the primary among them. Clients that connect at the same time share one inspection of the hosts.
 * Pools that use one class learn of a new primary together.
 */
export function clientClass(connectionString: string): typeof Client {
  const urls = hostUrls(connectionString);
  if (urls.length === 1) return Client;
  /** The connections that are open or being opened, with the timelines of their servers. */
  const open = new Map<Client, string>();
  let known: string | null = null;
  let finding: Promise<Inspected> | null = null;
  const find = (): Promise<Inspected> =>
    (finding ??= findPrimary(urls, known).finally(() => {
      finding = null;
    }));

  return class PrimaryClient extends Client {
    constructor(config?: string | ClientConfig) {
      super({ ...(typeof config === "object" && config), connectionString: urls[0] });
    }

    override connect(): Promise<Client>;
    override connect(callback: (...result: [Error] | [null, Client]) => void): void;
    override connect(callback?: (...result: [Error] | [null, Client]) => void): Promise<Client> | void {
      if (callback === undefined) return this.#connectToPrimary();
      callbackify(() => this.#connectToPrimary())(callback as (error: Error | null, client: Client) => void);
    }

    async #connectToPrimary(): Promise<Client> {
      const { host, port, timeline } = await find();
      if (known === null || timeline > known) known = timeline;
      for (const [client, older] of open) if (older < timeline) drop(client);
      // pg reads both when it connects.
      Object.assign(this, { host, port });
      // Before it is open: a silent server may accept it long after another one was promoted.
      open.set(this, timeline);
      this.once("end", () => open.delete(this));
      try {
        await super.connect();
      } catch (error) {
        open.delete(this);
        throw error;
      }
      return this;
    }
  };
}
