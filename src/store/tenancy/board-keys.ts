import type { Role } from "../../flow/roles.ts";
import { firstRow, firstValue, rows, type Db } from "../db/connect.ts";
import type { Scope } from "./credentials.ts";

/** An API key, as a board sees it. */
export interface BoardKey {
  readonly id: string;
  readonly clientId: string;
  readonly name: string;
  /** The user of the key, who is the author of what it writes. */
  readonly userId: string;
  readonly owner: { readonly id: string; readonly login: string | null } | null;
  /** On this board; null for a revoked key. */
  readonly role: Role | null;
  /** How many other boards it reaches. */
  readonly otherBoards: number;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** Until when the key before the last rotation is valid; null if it is not. */
  readonly previousUntil: Date | null;
  /** On any board; null before the first call. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Revoked keys of the board are listed for this time. */
const REVOKED_LISTED = "interval '90 days'";

const KEY = `
  select c.id, c.client_id as "clientId", c.name, c.user_id as "userId",
         case when o.id is not null then json_build_object('id', o.id, 'login', o.login) end as owner, m.role,
         (select count(*) from memberships t where t.user_id = c.user_id and t.workspace_id <> :workspaceId)::int
           as "otherBoards",
         c.scopes, c.created_at as "createdAt", c.expires_at as "expiresAt",
         case when c.previous_until > now() then c.previous_until end as "previousUntil",
         (select l.at from last_uses l where l.user_id = c.user_id) as "lastUsedAt", c.revoked_at as "revokedAt"
    from credentials c join users u on u.id = c.user_id and u.kind = 'machine'
    left join users o on o.id = c.owner_id
    left join memberships m on m.user_id = c.user_id and m.workspace_id = :workspaceId
   where (m.user_id is not null
          or c.issued_for = :workspaceId and c.revoked_at > now() - ${REVOKED_LISTED})`;

/** Lists the API keys of a board, or those of one owner; the newest first, revoked ones last. */
export const listBoardKeys = (db: Db, workspaceId: string, ownerId: string | null): Promise<BoardKey[]> =>
  rows<BoardKey>(
    db,
    `${KEY} and (cast(:ownerId as uuid) is null or c.owner_id = :ownerId)
     order by c.revoked_at is not null, c.created_at desc, c.id`,
    { workspaceId, ownerId },
  );

export const findBoardKey = (db: Db, workspaceId: string, id: string): Promise<BoardKey | null> =>
  firstRow<BoardKey>(db, `${KEY} and c.id = :id`, { workspaceId, id });

/** How many valid API keys of a board a person owns. */
export const countOwnKeys = async (db: Db, workspaceId: string, ownerId: string): Promise<number> =>
  (await firstValue<number>(
    db,
    `select count(*) from credentials c join memberships m on m.user_id = c.user_id
      where m.workspace_id = :workspaceId and c.owner_id = :ownerId and c.revoked_at is null
        and (c.expires_at is null or c.expires_at > now())`,
    { workspaceId, ownerId },
  )) ?? 0;
