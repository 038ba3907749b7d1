import { exists, firstRow, rows, type Db } from "../db/connect.ts";

/** Makes a user an operator of the service, or ends that. Its sessions know it with the next call. */
export async function setOperator(db: Db, userId: string, isOperator: boolean): Promise<void> {
  await db("users").where({ id: userId }).update({ is_operator: isOperator });
}

/** Lists the operators by login. */
export const listOperators = (db: Db): Promise<object[]> =>
  rows(db, "select login, name from users where is_operator order by lower(login)");

/** False if no operator has this login. */
export const removeOperator = (db: Db, login: string): Promise<boolean> =>
  exists(
    db,
    "update users set is_operator = false where is_operator and lower(login) = lower(:login) returning id",
    { login },
  );

/** An installation that can read accounts; null if no installation can. */
export const findUsableInstallation = (db: Db): Promise<{ readonly installationId: number } | null> =>
  firstRow(
    db,
    `select installation_id as "installationId" from organizations
      where installation_id is not null and broken_at is null order by created_at limit 1`,
  );
