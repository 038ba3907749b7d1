import { rows, type Db } from "../db/connect.ts";

/** A push to a card's branch, or its creation by Trunkline (`before` and `userId` are null). */
export interface RecordedPush {
  /** Null if the push created the branch. */
  readonly before: string | null;
  readonly after: string;
  readonly userId: string | null;
}

/** Lists what is recorded of the pushes to a card's branch. */
export async function listPushes(
  db: Db,
  branch: { readonly cardId: string; readonly repositoryId: string; readonly branchName: string },
): Promise<RecordedPush[]> {
  return rows<RecordedPush>(
    db,
    `select data->>'before' as before, coalesce(data->>'after', data->>'sha') as after,
            case when kind = 'pushed' then actor_id end as "userId"
       from timeline_items
      where card_id = :cardId and repository_id = :repositoryId and data->>'branchName' = :branchName
        and kind in ('branch_created', 'pushed')`,
    { ...branch },
  );
}
