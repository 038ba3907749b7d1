import { rows, type Db } from "../db/connect.ts";

/** Records that a user calls the service now, unless that was recorded in the last minute. */
export async function recordUse(db: Db, userId: string): Promise<void> {
  await rows(
    db,
    `insert into last_uses as known (user_id, at) values (:userId, now())
     on conflict (user_id) do update set at = now() where known.at < now() - interval '1 minute'`,
    { userId },
  );
}
