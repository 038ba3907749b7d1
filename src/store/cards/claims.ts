import { exists, firstRow, firstValue, isoTime, rows, type Db, type Trx } from "../db/connect.ts";
import { lockName } from "../db/lock-name.ts";
import { allInOrder } from "../db/transaction.ts";
import { isCardNumber } from "./cards.ts";
import { CLAIM_FIELDS, type HeldClaim, type ShownClaim } from "./claim-columns.ts";

/**
 * SQL for whether the claim `k` is held. Not with `now()`, the start of the transaction, which may have
 * waited for the row.
 */
const IS_HELD_AFTER_LOCK = "k.expires_at > clock_timestamp()";

/** The expiry of a claim, which is recorded later than it happens. */
export interface Expiry {
  readonly generation: number;
  readonly userId: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** SQL for the `Expiry` of the claim `k` as JSON; null if it is held or recorded. */
const UNRECORDED_EXPIRY = `
  case when not k.end_recorded and not ${IS_HELD_AFTER_LOCK}
       then json_build_object('generation', k.generation, 'userId', k.user_id, 'expiresAt', ${isoTime("k.expires_at")})
  end`;

/** What decides whether a card can be claimed. */
export interface ClaimState {
  /** 0 before the first claim. */
  readonly generation: number;
  readonly claimId: string | null;
  readonly credentialId: string | null;
  readonly isHeld: boolean;
  readonly unrecordedExpiry: Expiry | null;
}

/** Locks the claim of a card until the transaction ends. Null if the card is deleted. */
export async function lockClaim(trx: Trx, cardId: string): Promise<ClaimState | null> {
  const lock = "select 1 from claims where card_id = :cardId for update";
  // A separate statement, which begins after the wait for the lock.
  const read = `
    select k.generation, k.claim_id as "claimId", k.credential_id as "credentialId",
           ${IS_HELD_AFTER_LOCK} as "isHeld", ${UNRECORDED_EXPIRY} as "unrecordedExpiry"
      from claims k where k.card_id = :cardId`;
  const [, state] = await allInOrder([
    rows(trx, lock, { cardId }),
    firstRow<ClaimState>(trx, read, { cardId }),
  ]);
  return state;
}

interface NewClaim {
  readonly claimId: string;
  readonly credentialId: string;
  readonly userId: string;
  readonly note: string | null;
  readonly ttlSeconds: number;
}

const TAKE = `
  update claims k
     set generation = k.generation + 1, claim_id = :claimId, credential_id = :credentialId, user_id = :userId,
         note = :note, ttl_seconds = :ttlSeconds, end_recorded = false,
         expires_at = clock_timestamp() + cast(:ttlSeconds as integer) * interval '1 second'`;

/** Claims a card. The caller has locked the card's claim. */
export async function takeClaim(trx: Trx, cardId: string, claim: NewClaim): Promise<void> {
  await rows(trx, `${TAKE} where k.card_id = :cardId`, { ...claim, cardId });
}

/** Which card `takeNextFreeCard` may choose. An absent filter accepts every card. */
export interface FreeCardFilter {
  readonly projectId?: string | undefined;
  /** By default every stage except the backlog and the last ones. */
  readonly statusId?: string | undefined;
  /** The card has all of these. */
  readonly labelIds: readonly string[];
}

interface TakenCard {
  readonly cardId: string;
  readonly number: number;
  readonly unrecordedExpiry: Expiry | null;
}

const TAKE_NEXT = `
  with free as materialized (
    select k.card_id, c.number, ${UNRECORDED_EXPIRY} as "unrecordedExpiry"
      from claims k join cards c on c.id = k.card_id
      join stages s on s.id = c.stage_id join projects p on p.id = c.project_id
     where k.workspace_id = :workspaceId and not ${IS_HELD_AFTER_LOCK}
       and c.deleted_at is null and c.blocked is null
       and (c.assignee_id is null or c.assignee_id = :userId)
       and s.kind <> 'done' and (s.kind = 'stage' or s.id = cast(:statusId as uuid))
       and (cast(:statusId as uuid) is null or s.id = cast(:statusId as uuid))
       and (cast(:projectId as uuid) is null or p.id = cast(:projectId as uuid))
       and not exists (select 1 from unnest(cast(:labelIds as uuid[])) wanted
                        where not exists (select 1 from card_labels cl
                                           where cl.card_id = c.id and cl.label_id = wanted))
     order by p.created_at, p.id, s.position, c.rank
     limit 1 for update of k skip locked)
  ${TAKE}
    from free where k.card_id = free.card_id
  returning k.card_id as "cardId", free.number, free."unrecordedExpiry"`;

/**
 * Claims the first free card of a board, in the order of the columns. Null if no card is free.
 * Concurrent calls choose different cards.
 */
export async function takeNextFreeCard(
  trx: Trx,
  workspaceId: string,
  { projectId, statusId, labelIds }: FreeCardFilter,
  claim: NewClaim,
): Promise<TakenCard | null> {
  return firstRow<TakenCard>(trx, TAKE_NEXT, {
    ...claim,
    workspaceId,
    projectId: projectId ?? null,
    statusId: statusId ?? null,
    labelIds,
  });
}

/** Renews a claim that the caller has locked. Without `note`, the note is unchanged. */
export async function renewClaim(
  trx: Trx,
  cardId: string,
  { ttlSeconds, note }: { readonly ttlSeconds: number; readonly note?: string | null | undefined },
): Promise<void> {
  await rows(
    trx,
    `update claims k
        set note = case when :keepsNote then k.note else :note end, ttl_seconds = :ttlSeconds,
            expires_at = clock_timestamp() + cast(:ttlSeconds as integer) * interval '1 second'
      where k.card_id = :cardId`,
    { cardId, ttlSeconds, keepsNote: note === undefined, note: note ?? null },
  );
}

/** Ends a claim that the caller has locked. */
export async function endClaim(trx: Trx, cardId: string): Promise<void> {
  await rows(
    trx,
    "update claims set expires_at = clock_timestamp(), end_recorded = true where card_id = :cardId",
    { cardId },
  );
}

/** The claim that a write names in `X-Claim`. */
export interface ClaimToken {
  readonly claimId: string;
  readonly generation: number;
}

/** A card, and the credential that writes to it. */
export interface ClaimedWrite {
  readonly workspaceId: string;
  readonly number: number;
  readonly credentialId: string;
}

/**
 * Renews the claim of a card and locks it until the transaction ends. False if the credential does
 * not hold this generation of the claim.
 */
export async function confirmClaim(trx: Trx, write: ClaimedWrite, token: ClaimToken): Promise<boolean> {
  if (!isCardNumber(write.number)) return false;
  return exists(
    trx,
    `update claims k set expires_at = clock_timestamp() + k.ttl_seconds * interval '1 second'
       from cards c
      where c.workspace_id = :workspaceId and c.number = :number and k.card_id = c.id
        and k.claim_id = :claimId and k.generation = :generation and k.credential_id = :credentialId
        and ${IS_HELD_AFTER_LOCK}
     returning 1`,
    { ...write, ...token },
  );
}

/** The held claim of a card, or null. */
export const readClaim = (
  db: Db,
  { workspaceId, number }: Pick<ClaimedWrite, "workspaceId" | "number">,
): Promise<ShownClaim | null> =>
  firstValue<ShownClaim>(
    db,
    `select json_build_object(${CLAIM_FIELDS}) as claim from claims k join users h on h.id = k.user_id join cards c on c.id = k.card_id
      where c.workspace_id = :workspaceId and c.number = :number and ${IS_HELD_AFTER_LOCK}`,
    { workspaceId, number },
  );

/** A claim that the transaction has taken or renewed. */
export async function readHeldClaim(trx: Trx, cardId: string): Promise<HeldClaim> {
  const claim = await firstValue<HeldClaim>(
    trx,
    `select json_build_object('claimId', k.claim_id, ${CLAIM_FIELDS}) as claim
       from claims k join users h on h.id = k.user_id where k.card_id = :cardId`,
    { cardId },
  );
  if (!claim) throw new Error(`There is no claim of the card ${cardId}.`);
  return claim;
}

/** Lets one transaction at a time count and add claims of a credential. */
export async function lockClaimsOfCredential(trx: Trx, credentialId: string): Promise<void> {
  await lockName(trx, `claims:${credentialId}`);
}

/** The number of claims that a credential holds. */
export async function countHeldClaims(
  trx: Trx,
  { userId, credentialId }: { readonly userId: string; readonly credentialId: string },
): Promise<number> {
  const count = await firstValue<number>(
    trx,
    `select count(*) as count from claims k
      where k.user_id = :userId and k.credential_id = :credentialId and not k.end_recorded and ${IS_HELD_AFTER_LOCK}`,
    { userId, credentialId },
  );
  return count ?? 0;
}

/** Marks expired claims as recorded, the oldest first, and returns them: the caller records them. */
export async function markExpiredClaims(
  trx: Trx,
  limit: number,
): Promise<(Expiry & { readonly cardId: string })[]> {
  const expired = await rows<Expiry & { readonly cardId: string }>(
    trx,
    `with expired as materialized (
       select k.card_id from claims k where not k.end_recorded and k.expires_at <= now()
        order by k.expires_at limit :limit for update skip locked)
     update claims k set end_recorded = true from expired where k.card_id = expired.card_id
     returning k.card_id as "cardId", k.generation, k.user_id as "userId", ${isoTime("k.expires_at")} as "expiresAt"`,
    { limit },
  );
  return expired.toSorted((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1));
}
