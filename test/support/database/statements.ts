import { Client } from "pg";

/** How the pool that API calls share signs its connections. */
const APPLICATION = "trunkline";
/** A process's pulse beats whenever it wants and then looks for what nobody holds, and what a new connection says first is said once. */
const NOBODYS =
  /^(insert into instances|select version\(\)|select distinct j\.queue_name|select j\.id::text as id, j\.attempts|(select|update) graphile_worker\.(force_unlock_workers|_private_job_queues)|select .* from (operations o|release_actions a) where .*not exists \(select 1 from instances)/;

interface Connection {
  readonly connectionParameters: { readonly application_name?: string };
}
const textOf = (query: unknown): string =>
  (typeof query === "string" ? query : ((query as { text?: string }).text ?? "")).trim().replace(/\s+/g, " ");

/** What a piece of work asks of PostgreSQL over the pool of API calls, `begin` and `commit` included, in the order sent. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- called below with its own connection as `this`.
  const query = Client.prototype.query as (this: unknown, ...args: unknown[]) => unknown;
  const watched = function (this: unknown, ...args: unknown[]): unknown {
    const text = textOf(args[0]);
    const { application_name } = (this as Connection).connectionParameters;
    if (application_name === APPLICATION && !NOBODYS.test(text)) sent.push(text);
    return query.apply(this, args);
  };
  Object.assign(Client.prototype, { query: watched });
  try {
    await work();
  } finally {
    Object.assign(Client.prototype, { query });
  }
  return sent;
}
