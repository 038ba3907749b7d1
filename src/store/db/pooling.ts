import type { Client } from "pg";
import { clientClass } from "./primary.ts";

const ROUNDS = 5;

/**
 * Whether one connection reaches several processes of PostgreSQL, as with PgBouncer's transaction
 * pooling: while another connection is in a transaction, it must keep its own process.
 */
export async function changesServerProcess(connectionString: string): Promise<boolean> {
  const Connection = clientClass(connectionString);
  const connections = [new Connection({ connectionString }), new Connection({ connectionString })] as const;
  const [one, other] = connections;
  try {
    for (const connection of connections) {
      connection.on("error", () => undefined);
      await connection.connect();
    }
    for (let round = 1; round <= ROUNDS; round++) {
      const before = await processOf(one);
      if (!(await mayBegin(other))) return true;
      await processOf(other);
      const after = await processOf(one);
      await other.query("rollback");
      if (after !== before) return true;
    }
    return false;
  } finally {
    for (const connection of connections) connection.end().catch(() => undefined);
  }
}

/** PgBouncer refuses transactions with statement pooling. */
async function mayBegin(connection: Client): Promise<boolean> {
  try {
    await connection.query("begin");
    return true;
  } catch (error) {
    if (error instanceof Error && /statement pooling/.test(error.message)) return false;
    throw error;
  }
}

async function processOf(connection: Client): Promise<unknown> {
  const { rows } = await connection.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid;
}
