import { firstValue, rows, type Db } from "../db/connect.ts";

/**
 * SQL for the person that a user counts as on the board `:workspaceId`: a person as themselves, an
 * agent's account as the owner with whom the board registered it, and the user of an API key as the
 * key's owner. Null if nobody is known: GitHub shows `ghost` for deleted accounts, and other bots
 * have no owner.
 */
const PERSON = `
  case when u.login = 'ghost' then null
       when u.kind = 'machine'
       then (select min(c.owner_id::text)::uuid from credentials c where c.user_id = u.id
             having count(distinct c.owner_id) = 1 and count(*) = count(c.owner_id))
       when u.kind = 'agent' or u.login like '%[bot]' or wa.user_id is not null then wa.owner_id
       else u.id end`;

const FROM = `
  from users u left join workspace_agents wa on wa.user_id = u.id and wa.workspace_id = :workspaceId`;

/** The person that a user counts as on a board, or null. */
export const findPerson = (db: Db, workspaceId: string, userId: string): Promise<string | null> =>
  firstValue<string>(db, `select ${PERSON} ${FROM} where u.id = :userId`, { workspaceId, userId });

/** A GitHub account and the person that it counts as on a board, or null. */
export interface AccountOwner {
  readonly userId: string;
  readonly forgeId: number;
  readonly login: string | null;
  readonly personId: string | null;
}

/** Those of these users and GitHub accounts that are known. */
export async function listAccountOwners(
  db: Db,
  workspaceId: string,
  { userIds, forgeIds }: { readonly userIds: readonly string[]; readonly forgeIds: readonly number[] },
): Promise<AccountOwner[]> {
  return rows<AccountOwner>(
    db,
    `select u.id as "userId", u.forge_account_id as "forgeId", u.login, ${PERSON} as "personId" ${FROM}
      where u.id = any(cast(:userIds as uuid[])) or u.forge_account_id = any(cast(:forgeIds as bigint[]))`,
    { workspaceId, userIds: [...userIds], forgeIds: [...forgeIds] },
  );
}
