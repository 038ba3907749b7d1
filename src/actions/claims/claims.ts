import { notFound, Problem } from "../../errors.ts";
import type { HeldClaim } from "../../store/cards/claim-columns.ts";
import { readChangedCard, type CardHead } from "../../store/cards/cards.ts";
import {
  countHeldClaims,
  endClaim,
  confirmClaim,
  lockClaim,
  lockClaimsOfCredential,
  readClaim,
  readHeldClaim,
  renewClaim,
  takeClaim,
  markExpiredClaims,
  takeNextFreeCard,
  type ClaimedWrite,
  type ClaimToken,
  type Expiry,
  type FreeCardFilter,
} from "../../store/cards/claims.ts";
import type { Trx } from "../../store/db/connect.ts";
import { allInOrder, transaction } from "../../store/db/transaction.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";

/** Claims that a credential may hold at a time, unless the operator allows another number. */
export const DEFAULT_CLAIMS_PER_CREDENTIAL = 3;

interface ClaimInput {
  readonly ttlSeconds: number;
  readonly note?: string | null | undefined;
}

/**
 * Claims a card for the credential. With `claimId`, renews that claim. Without it, a credential that
 * has claimed the card gets a new generation of the claim, and an earlier run of the same program loses
 * it. Throws `conflict` with the code `claimed`, `claim_lost` or `claim_limit`.
 */
export async function claimCard(
  deps: Deps,
  write: Write,
  card: CardHead,
  { claimId, ...input }: ClaimInput & { readonly claimId?: string | undefined },
): Promise<StoredResponse> {
  const { trx, credentialId } = write;
  const claim = await lockClaim(trx, card.id);
  if (!claim) throw notFound(`There is no card ${card.number} on this board.`);
  const isOwn = claim.isHeld && claim.credentialId === credentialId;
  if (claimId !== undefined) {
    if (!isOwn || claim.claimId !== claimId) throw await claimLost(trx, card);
    await renewClaim(trx, card.id, input);
    return write.respond(await readHeldClaim(trx, card.id));
  }
  if (claim.isHeld && !isOwn) throw await claimedByAnother(trx, card);
  if (!isOwn) {
    await lockClaimsOfCredential(trx, credentialId);
    await requireBelowClaimLimit(deps, write);
  }
  const [, held] = await allInOrder([
    takeClaim(trx, card.id, newClaim(deps, write, input)),
    readHeldClaim(trx, card.id),
  ]);
  await recordClaimed(write, card.id, claim.unrecordedExpiry, held);
  return write.respond(held);
}

/**
 * Claims the next free card of the board. Returns the card and its claim, or 204 if no card is
 * free. Throws `conflict` with the code `claim_limit`.
 */
export async function claimNext(
  deps: Deps,
  write: Write,
  { ttlSeconds, note, ...filter }: ClaimInput & FreeCardFilter,
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  await lockClaimsOfCredential(trx, write.credentialId);
  await requireBelowClaimLimit(deps, write);
  const taken = await takeNextFreeCard(trx, workspaceId, filter, newClaim(deps, write, { ttlSeconds, note }));
  if (!taken) return write.respond(null, 204);
  const [claim, card] = await allInOrder([
    readHeldClaim(trx, taken.cardId),
    readChangedCard(trx, workspaceId, taken.number),
  ]);
  await recordClaimed(write, taken.cardId, taken.unrecordedExpiry, claim);
  return write.respond({ card, claim });
}

/** Releases the credential's claim of a card. Returns 204. Throws `conflict` with the code `claim_lost`. */
export async function releaseClaim(
  write: Write,
  card: CardHead,
  outcome: string | null,
): Promise<StoredResponse> {
  const { trx, credentialId, userId } = write;
  const claim = await lockClaim(trx, card.id);
  if (!claim?.isHeld || claim.credentialId !== credentialId) throw await claimLost(trx, card);
  const { generation } = claim;
  const actor = { userId, login: null };
  const released = { cardId: card.id, kind: "claim_released", actor, data: { generation, outcome } } as const;
  await allInOrder([endClaim(trx, card.id), recordEvents(trx, [released])]);
  return write.respond(null, 204);
}

/**
 * Checks and renews the claim that a write names in `X-Claim`, and locks it until the write's
 * transaction ends. Throws `conflict` with the code `claim_lost`.
 */
export async function requireClaim(trx: Trx, write: ClaimedWrite, token: ClaimToken): Promise<void> {
  if (!(await confirmClaim(trx, write, token))) throw await claimLost(trx, write);
}

const EXPIRED_BATCH = 100;

/** Records expired claims, except those that the next claim of the card has recorded. */
export async function recordExpiredClaims({ db }: Pick<Deps, "db">): Promise<void> {
  for (let count = EXPIRED_BATCH; count === EXPIRED_BATCH;) {
    count = await transaction(db, async (trx) => {
      const expired = await markExpiredClaims(trx, EXPIRED_BATCH);
      await recordEvents(
        trx,
        expired.map(({ cardId, ...expiry }) => expiryOf(cardId, expiry)),
      );
      return expired.length;
    });
  }
}

const newClaim = (deps: Deps, { credentialId, userId }: Write, { ttlSeconds, note = null }: ClaimInput) => ({
  claimId: deps.newId(),
  credentialId,
  userId,
  ttlSeconds,
  note,
});

/** Records a new claim, after the expiry of the previous one if that is not recorded. */
async function recordClaimed(
  { trx, userId }: Write,
  cardId: string,
  expiry: Expiry | null,
  { generation, expiresAt }: HeldClaim,
): Promise<void> {
  const actor = { userId, login: null };
  await recordEvents(trx, [
    ...(expiry ? [expiryOf(cardId, expiry)] : []),
    { cardId, kind: "claimed", actor, data: { generation, expiresAt } },
  ]);
}

const expiryOf = (cardId: string, { generation, userId, expiresAt }: Expiry): NewEvent => ({
  cardId,
  kind: "claim_expired",
  actor: { userId, login: null },
  data: { generation },
  at: expiresAt,
  naturalKey: `claim_expired:${generation}`,
});

/** Throws `conflict` with the code `claim_limit` if the credential holds as many claims as it may. */
async function requireBelowClaimLimit({ claimsPerCredential }: Deps, write: Write): Promise<void> {
  const count = await countHeldClaims(write.trx, write);
  if (count < claimsPerCredential) return;
  throw claimProblem(
    "claim_limit",
    `You already hold ${count} of at most ${claimsPerCredential} claims. Release one, or wait until one expires.`,
  );
}

type ClaimCode = "claimed" | "claim_lost" | "claim_limit";

const claimProblem = (code: ClaimCode, message: string, claim: object | null = null): Problem =>
  new Problem("conflict", message, { body: { code, ...(claim && { claim }) } });

async function claimedByAnother(trx: Trx, card: CardHead): Promise<Problem> {
  const claim = await readClaim(trx, card);
  const until = claim ? ` by ${claim.holder.name} until ${claim.expiresAt}` : "";
  return claimProblem("claimed", `Card ${card.number} is claimed${until}.`, claim);
}

async function claimLost(trx: Trx, write: Pick<ClaimedWrite, "workspaceId" | "number">): Promise<Problem> {
  const claim = await readClaim(trx, write);
  const now = claim ? ` It is claimed by ${claim.holder.name} until ${claim.expiresAt}.` : "";
  return claimProblem(
    "claim_lost",
    `This claim of card ${write.number} has expired, was released or was taken over.${now}`,
    claim,
  );
}
