import { connect } from "../../src/store/db/connect.ts";
import { migrate } from "../../src/store/db/migrate.ts";

/** What every test's database starts from: brings the empty template up to the newest migration, once per test run. */
export async function migrateTemplate(connectionString: string): Promise<void> {
  const db = connect({ connectionString, onError: (error) => process.emitWarning(error) });
  try {
    await migrate(db, connectionString);
  } finally {
    await db.destroy();
  }
}
