import { Client } from "pg";

/** The application name of the pool for API calls. */
const APPLICATION = "trunkline";
/** Heartbeats, their searches, and the first statements of a connection run at any time. */
const UNRELATED =
  /^(insert into instances|select version\(\)|select distinct j\.queue_name|select j\.id::text as id, j\.attempts|(select|update) graphile_worker\.(force_unlock_workers|_private_job_queues)|select .* from operations o where .*not exists \(select 1 from instances)/;

interface Connection {
  readonly connectionParameters: { readonly application_name?: string };
}
const textOf = (query: unknown): string =>
  (typeof query === "string" ? query : ((query as { text?: string }).text ?? "")).trim().replace(/\s+/g, " ");

/** The statements of a function over the pool for API calls, with `begin` and `commit`, in order. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- called below with its connection as `this`.
  const query = Client.prototype.query as (this: unknown, ...args: unknown[]) => unknown;
  const recording = function (this: unknown, ...args: unknown[]): unknown {
    const text = textOf(args[0]);
    const { application_name } = (this as Connection).connectionParameters;
    if (application_name === APPLICATION && !UNRELATED.test(text)) sent.push(text);
    return query.apply(this, args);
  };
  Object.assign(Client.prototype, { query: recording });
  try {
    await work();
  } finally {
    Object.assign(Client.prototype, { query });
  }
  return sent;
}
