import { exists, firstRow, rows, type Db } from "../db/connect.ts";
import type { Identified } from "../db/list-window.ts";

/** Registers an agent, or changes the owner of a registered one; null keeps it. */
export async function insertAgent(
  db: Db,
  agent: { readonly workspaceId: string; readonly userId: string; readonly ownerId: string | null },
): Promise<void> {
  await rows(
    db,
    `insert into workspace_agents as known (workspace_id, user_id, owner_id)
     values (:workspaceId, :userId, :ownerId)
     on conflict (workspace_id, user_id) do update set owner_id = coalesce(excluded.owner_id, known.owner_id)`,
    agent,
  );
}

/** Lists the agents registered on one board, or on all boards (null), the oldest first. */
export async function listAgents(db: Db, workspaceId: string | null): Promise<Identified[]> {
  return rows<Identified>(
    db,
    `select wa.workspace_id as "workspaceId", u.id, u.login, o.login as owner
       from workspace_agents wa join users u on u.id = wa.user_id left join users o on o.id = wa.owner_id
      where :workspaceId::uuid is null or wa.workspace_id = :workspaceId
      order by wa.created_at, u.id`,
    { workspaceId },
  );
}

/** Removes an agent, named by its id or login. False if the board has registered no such agent. */
export async function removeAgent(
  db: Db,
  workspaceId: string,
  named: { readonly userId: string } | { readonly login: string },
): Promise<boolean> {
  return exists(
    db,
    `delete from workspace_agents wa using users u
      where u.id = wa.user_id and wa.workspace_id = :workspaceId
        and (u.id = :userId or lower(u.login) = lower(:login))
     returning u.id`,
    { workspaceId, userId: null, login: null, ...named },
  );
}

export async function isRegisteredAgent(
  db: Db,
  workspaceId: string,
  forgeAccountId: number,
): Promise<boolean> {
  return exists(
    db,
    `select 1 from workspace_agents wa join users u on u.id = wa.user_id
      where wa.workspace_id = :workspaceId and u.forge_account_id = :forgeAccountId`,
    { workspaceId, forgeAccountId },
  );
}

/** An agent of a board: registered, or a well-known one that has proposed commits for a card. */
export interface BoardAgent {
  readonly id: string;
  readonly login: string;
  readonly avatarUrl: string | null;
  readonly isRegistered: boolean;
  /** The person as whom its commits count, or null. */
  readonly owner: { readonly id: string; readonly login: string | null } | null;
}

const BOARD_AGENT = `
  select u.id, u.login, u.avatar_url as "avatarUrl", wa.user_id is not null as "isRegistered",
         case when o.id is not null then json_build_object('id', o.id, 'login', o.login) end as owner
    from users u
    left join workspace_agents wa on wa.user_id = u.id and wa.workspace_id = :workspaceId
    left join users o on o.id = wa.owner_id
   where u.login is not null
     and (wa.user_id is not null
          or u.kind = 'agent' and u.id in (select p.author_id from proposals p join cards c on c.id = p.card_id
                                            where c.workspace_id = :workspaceId))`;

/** Lists the agents of a board by login. */
export const listBoardAgents = (db: Db, workspaceId: string): Promise<BoardAgent[]> =>
  rows<BoardAgent>(db, `${BOARD_AGENT} order by lower(u.login), u.id`, { workspaceId });

export const findBoardAgent = (db: Db, workspaceId: string, userId: string): Promise<BoardAgent | null> =>
  firstRow<BoardAgent>(db, `${BOARD_AGENT} and u.id = :userId`, { workspaceId, userId });

/** Sets the owner of an agent, and registers it if it is not yet. */
export async function setAgentOwner(
  db: Db,
  agent: { readonly workspaceId: string; readonly userId: string; readonly ownerId: string | null },
): Promise<void> {
  await rows(
    db,
    `insert into workspace_agents (workspace_id, user_id, owner_id) values (:workspaceId, :userId, :ownerId)
     on conflict (workspace_id, user_id) do update set owner_id = excluded.owner_id`,
    agent,
  );
}
