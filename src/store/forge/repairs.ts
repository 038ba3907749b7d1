import { firstRow, type Db } from "../db/connect.ts";

/** Until when, by the forge's clock, this repair has seen to everything; null before its first run. */
export async function repairedUntil(db: Db, name: string): Promise<Date | null> {
  const row = await firstRow<{ doneUntil: Date }>(
    db,
    `select done_until as "doneUntil" from repairs where name = :name`,
    { name },
  );
  return row?.doneUntil ?? null;
}

/** Remembers how far a repair has come. It never goes back, whoever else is at it. */
export async function markRepaired(db: Db, name: string, until: string): Promise<void> {
  await db.raw(
    `insert into repairs as r (name, done_until) values (:name, :until)
     on conflict (name) do update set done_until = greatest(r.done_until, excluded.done_until)`,
    { name, until },
  );
}
