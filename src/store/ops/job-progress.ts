import { firstValue, type Db } from "../db/connect.ts";

/** The time up to which a job has done its work; null before its first run. */
export async function jobProgressOf(db: Db, name: string): Promise<Date | null> {
  return firstValue<Date>(db, `select done_until as "doneUntil" from job_progress where name = :name`, {
    name,
  });
}

/** Records up to when a job has done its work. The time never decreases. */
export async function saveJobProgress(db: Db, name: string, until: string): Promise<void> {
  await db.raw(
    `insert into job_progress as r (name, done_until) values (:name, :until)
     on conflict (name) do update set done_until = greatest(r.done_until, excluded.done_until)`,
    { name, until },
  );
}
