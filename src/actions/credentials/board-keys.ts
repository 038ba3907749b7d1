import { conflict, forbidden, invalid, requireFound } from "../../errors.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { countOwnKeys, findBoardKey, type BoardKey } from "../../store/tenancy/board-keys.ts";
import type { Scope } from "../../store/tenancy/credentials.ts";
import { removeFromBoard } from "../../store/tenancy/members.ts";
import type { Deps } from "../deps.ts";
import { changeMembers } from "../members/change-members.ts";
import type { Write } from "../write.ts";
import { issueKey, rotateCredential } from "./credentials.ts";

/** Limited because every key has its own call limits. */
const MAX_OWN_KEYS = 25;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

interface KeyOrder {
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly Scope[];
  /** Null: never expires. */
  readonly expiresInDays: number | null;
}

/** Issues an API key for this board, owned by the caller. Returns 201 with it. */
export const issueBoardKey = (
  deps: Deps,
  write: Write,
  { name, role, scopes, expiresInDays }: KeyOrder,
): Promise<StoredResponse> =>
  changeMembers(deps, write, "member", async (trx, held) => {
    const { workspaceId, userId: ownerId } = write;
    if (!mayAct(held, role))
      throw forbidden(`You have the role ${held}. Issue a key with at most that role.`);
    await requireFewKeys(trx, write);
    const boards = [{ workspaceId, role }];
    const order = { name, boards, scopes, expiresAt: expiryIn(expiresInDays), ownerId };
    const { id, apiKey } = await issueKey(deps, trx, order, ownerId);
    return write.respondIn(trx, { ...(await read(trx, write, id)), apiKey }, 201);
  });

interface RotationOrder {
  /** How long the previous key stays valid. */
  readonly keepHours: number;
  /** Null: never expires. Undefined keeps the expiry. */
  readonly expiresInDays?: number | null | undefined;
}

/**
 * Replaces a key by a new one. Returns it. The caller owns the key from now on, so that it ends when
 * they leave the board. A key that counts as another person, may do more than the caller, or reaches
 * other boards is not shown to the caller.
 */
export const rotateBoardKey = (
  deps: Deps,
  write: Write,
  { id }: BoardKey,
  { keepHours, expiresInDays }: RotationOrder,
): Promise<StoredResponse> =>
  changeMembers(deps, write, "member", async (trx, held) => {
    const key = await manageable(trx, write, held, id);
    if (key.owner && key.owner.id !== write.userId)
      throw forbidden(`Only ${key.owner.login ?? "its owner"} may rotate this key. You can revoke it.`);
    if (key.role && !mayAct(held, key.role))
      throw forbidden(`This key has the role ${key.role}, which you do not have.`);
    if (key.otherBoards > 0)
      throw conflict(
        `This key also reaches other boards. An operator can rotate it: trunkline credential rotate ${key.clientId}`,
      );
    if (!key.owner) await requireFewKeys(trx, write);
    const expiresAt = expiresInDays === undefined ? undefined : expiryIn(expiresInDays);
    if (expiresAt !== undefined) requireNoLongerThan(key, expiresAt);
    const { clientId } = key;
    const order = { clientId, keepMs: keepHours * HOUR_MS, expiresAt, ownerId: write.userId };
    const { apiKey } = await rotateCredential({ db: trx }, order);
    return write.respondIn(trx, { ...(await read(trx, write, id)), apiKey });
  });

async function requireFewKeys(trx: Trx, { workspaceId, userId }: Write): Promise<void> {
  if ((await countOwnKeys(trx, workspaceId, userId)) >= MAX_OWN_KEYS)
    throw conflict(`You have ${MAX_OWN_KEYS} keys on this board. Revoke those that nobody uses.`);
}

/** The expiry of a key was chosen when it was issued. Throws `invalid` for a later one. */
function requireNoLongerThan({ expiresAt: present }: BoardKey, expiresAt: Date | null): void {
  if (present === null || (expiresAt !== null && expiresAt <= present)) return;
  const message = `This key expires at ${present.toISOString()}. A rotation cannot extend that. Issue a new key.`;
  throw invalid(`body.expiresInDays: ${message}`, [{ path: "body.expiresInDays", message }]);
}

/**
 * Ends the access of a key to this board, revokes it if it reaches no other, and stops the webhooks
 * that it created. Returns 204.
 */
export const revokeBoardKey = (deps: Deps, write: Write, { id }: BoardKey): Promise<StoredResponse> =>
  changeMembers(deps, write, "member", async (trx, held) => {
    const { workspaceId, userId: by } = write;
    const { userId } = await manageable(trx, write, held, id);
    await removeFromBoard(trx, { workspaceId, userIds: [userId], by });
    return write.respondIn(trx, null, 204);
  });

/** The key as it is now. Only maintainers know the keys of others. */
async function manageable(trx: Trx, write: Write, held: Role, id: string): Promise<BoardKey> {
  const key = await read(trx, write, id);
  if (held !== "maintainer" && key.owner?.id !== write.userId) requireFound(null, "API key");
  if (key.revokedAt === null) return key;
  throw conflict(`The key ${key.name} is revoked already.`);
}

const read = async (trx: Trx, { workspaceId }: Write, id: string): Promise<BoardKey> =>
  requireFound(await findBoardKey(trx, workspaceId, id), "API key");

const expiryIn = (days: number | null): Date | null =>
  days === null ? null : new Date(Date.now() + days * DAY_MS);
