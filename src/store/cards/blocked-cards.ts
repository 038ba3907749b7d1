import type { Blocked } from "../../flow/refusal.ts";
import { column, exists, firstRow, isoTime, rows, type Db } from "../db/connect.ts";
import { trunksSql } from "../forge/trunks.ts";

/** Sets or clears (null) what stands in the card's way. */
export async function setBlocked(db: Db, cardId: string, blocked: Blocked | null): Promise<void> {
  await rows(
    db,
    "update cards set blocked = cast(:blocked as jsonb), updated_at = now() where id = :cardId",
    {
      cardId,
      blocked: blocked && JSON.stringify(blocked),
    },
  );
}

/** Sets what stands in the card's way from now on, by the database's clock, and gives it with its time. */
export async function blockCard(db: Db, cardId: string, refused: Omit<Blocked, "at">): Promise<Blocked> {
  const found = await firstRow<{ blocked: Blocked }>(
    db,
    `update cards set blocked = cast(:refused as jsonb) || jsonb_build_object('at', ${isoTime("now()")}), updated_at = now()
      where id = :cardId returning blocked`,
    { cardId, refused: JSON.stringify(refused) },
  );
  if (!found) throw new Error("a card that is not there was refused");
  return found.blocked;
}

/** Whether something stands in the card's way, or a move is under way that may find so. */
export async function mayBeBlocked(db: Db, cardId: string): Promise<boolean> {
  return exists(
    db,
    `select 1 from cards c where c.id = :cardId
        and (c.blocked is not null or exists (select 1 from operations o where o.card_id = c.id and o.state = 'running'))`,
    { cardId },
  );
}

/** The cards linked to a repository that something stands in the way of. */
export async function listBlockedCards(db: Db, repositoryId: string): Promise<string[]> {
  return column<string>(
    db,
    `select c.id from card_repositories cr join cards c on c.id = cr.card_id
      where cr.repository_id = :repositoryId and cr.project_id is not null and c.blocked is not null and c.deleted_at is null`,
    { repositoryId },
  );
}

/**
 * The cards that were refused for want of one of these branches of their project's repositories, or where the repository was archived and had it all
 * along. Where the forge did not say which branch it missed, it may be any that the flow starts from or merges into.
 */
export async function listCardsLacking(
  db: Db,
  branches: readonly { readonly repositoryId: string; readonly branchName: string }[],
): Promise<string[]> {
  return column<string>(
    db,
    `select distinct c.id
       from unnest(cast(:repositoryIds as uuid[]), cast(:branchNames as text[])) b(repository_id, branch_name)
       join repositories r on r.id = b.repository_id
       join cards c on c.project_id = r.project_id and c.blocked is not null and c.deleted_at is null
       join card_repositories cr on cr.card_id = c.id and cr.repository_id = r.id
      where c.blocked->'reasons' @> '[{"details": {"connection": "archived"}}]'
         or c.blocked->'reasons' @> jsonb_build_array(jsonb_build_object(
              'reason', 'branch_missing', 'details', jsonb_build_object('branch', b.branch_name)))
         or (exists (select 1 from jsonb_array_elements(c.blocked->'reasons') e
                      where e->>'reason' = 'branch_missing' and e->'details'->'branch' is null)
             and (b.repository_id, b.branch_name) in (${trunksSql("r.id = any(cast(:repositoryIds as uuid[]))")}))
      order by c.id`,
    {
      repositoryIds: branches.map(({ repositoryId }) => repositoryId),
      branchNames: branches.map(({ branchName }) => branchName),
    },
  );
}

/** The cards linked to an organization's repositories that the forge did not permit to move, and when each was refused. */
export async function listForbiddenCards(
  db: Db,
  organizationId: string,
): Promise<{ readonly cardId: string; readonly at: string }[]> {
  return rows(
    db,
    `select distinct c.id as "cardId", c.blocked->>'at' as at
       from repositories r join card_repositories cr on cr.repository_id = r.id join cards c on c.id = cr.card_id
      where r.organization_id = :organizationId and cr.project_id is not null and c.deleted_at is null
        and c.blocked->'reasons' @> '[{"reason": "not_permitted"}]'
      order by c.id`,
    { organizationId },
  );
}
