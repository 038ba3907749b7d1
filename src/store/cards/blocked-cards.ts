import type { Blocked } from "../../flow/refusal.ts";
import { column, exists, firstRow, isoTime, rows, type Db } from "../db/connect.ts";
import { trunksSql } from "../forge/trunks.ts";

/** Blocks or unblocks (null) a card. */
export async function setBlocked(db: Db, cardId: string, blocked: Blocked | null): Promise<void> {
  const update = "update cards set blocked = cast(:blocked as jsonb), updated_at = now() where id = :cardId";
  await rows(db, update, { cardId, blocked: blocked && JSON.stringify(blocked) });
}

/** Blocks a card. Adds the time of the database and returns the result. */
export async function blockCard(db: Db, cardId: string, refused: Omit<Blocked, "at">): Promise<Blocked> {
  const found = await firstRow<{ blocked: Blocked }>(
    db,
    `update cards set blocked = cast(:refused as jsonb) || jsonb_build_object('at', ${isoTime("now()")}), updated_at = now()
      where id = :cardId returning blocked`,
    { cardId, refused: JSON.stringify(refused) },
  );
  if (!found) throw new Error(`There is no card ${cardId}.`);
  return found.blocked;
}

/** Whether a card is blocked, or has a running move that may block it. */
export async function mayBeBlocked(db: Db, cardId: string): Promise<boolean> {
  return exists(
    db,
    `select 1 from cards c where c.id = :cardId
        and (c.blocked is not null or exists (select 1 from operations o where o.card_id = c.id and o.state = 'running'))`,
    { cardId },
  );
}

/** Lists the blocked cards that are linked to a repository. */
export async function listBlockedCardsOfRepository(db: Db, repositoryId: string): Promise<string[]> {
  return column<string>(
    db,
    `select c.id from card_repositories cr join cards c on c.id = cr.card_id
      where cr.repository_id = :repositoryId and cr.project_id is not null and c.blocked is not null and c.deleted_at is null`,
    { repositoryId },
  );
}

/**
 * Lists the cards that are blocked because one of these branches was missing or its repository was
 * archived. If the refusal names no branch, each trunk may be the missing one.
 */
export async function listCardsMissingBranches(
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

/** Lists the cards that a limit has kept out of a stage. */
export async function listCardsWaitingForRoom(db: Db, stageId: string): Promise<string[]> {
  return column<string>(
    db,
    `select c.id from stages s join cards c on c.project_id = s.project_id
      where s.id = :stageId and c.blocked is not null and c.deleted_at is null
        and c.blocked->>'statusId' = cast(:stageId as text) and c.blocked->'reasons' @> '[{"reason": "wip_limit"}]'
      order by c.id`,
    { stageId },
  );
}

/** Lists an organization's cards that are blocked by `not_permitted`, and since when. */
export async function listNotPermittedCards(
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
