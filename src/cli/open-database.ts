import { Problem } from "../errors.ts";
import { dataDirOf } from "../config.ts";
import { connect, type Db } from "../store/db/connect.ts";
import { findPostgres } from "../sandbox/postgres/start-postgres.ts";
import type { CommandContext } from "./command.ts";

/** Where the database is: DATABASE_URL, or that of the sandbox running on the data directory. */
export async function databaseUrlOf({ env, cwd }: CommandContext): Promise<string> {
  const url = env["DATABASE_URL"] || (await findPostgres(dataDirOf(env, cwd)));
  if (url) return url;
  throw new Problem(
    "unavailable",
    "There is no database: set DATABASE_URL, or start the sandbox in this folder and call again beside it.",
  );
}

/** Works with the database and closes it. */
export async function withDatabase<T>(
  context: CommandContext,
  work: (db: Db, databaseUrl: string) => Promise<T>,
): Promise<T> {
  const connectionString = await databaseUrlOf(context);
  const db = connect({ connectionString, max: 2, onError: () => undefined });
  try {
    return await work(db, connectionString);
  } finally {
    await db.destroy();
  }
}
