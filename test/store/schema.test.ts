import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { describeSchema } from "../../scripts/describe-schema.ts";
import { connect } from "../../src/store/db/connect.ts";
import { createTestDatabase } from "../support/database/database.ts";

it("schema.sql is the schema that the migrations create; `npm run schema` writes it", async () => {
  const database = await createTestDatabase();
  const db = connect({ connectionString: database.connectionString, onError: () => undefined });
  try {
    const committed = await readFile(join(import.meta.dirname, "../../schema.sql"), "utf8");
    expect(committed).toBe(await describeSchema(db));
  } finally {
    await db.destroy();
    await database.drop();
  }
});
