import { connect } from "../../src/store/db/connect.ts";
import { migrate } from "../../src/store/db/migrate.ts";

/** Migrates the template of all tests' databases, once per run. */
export async function migrateTemplate(connectionString: string): Promise<void> {
  const db = connect({ connectionString, onError: (error) => process.emitWarning(error) });
  try {
    await migrate(db, connectionString);
  } finally {
    await db.destroy();
  }
}
