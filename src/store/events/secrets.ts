import { firstRow, type Db } from "../db/connect.ts";

/** A key of this database's own. It is made with the database, and nothing but the database knows it. */
export async function readSecret(db: Db, name: "comment_marks"): Promise<Buffer> {
  const secret = await firstRow<{ value: Buffer }>(db, "select value from secrets where name = :name", {
    name,
  });
  if (!secret) throw new Error(`no secret ${name}`);
  return secret.value;
}
