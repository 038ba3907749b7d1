import { exists, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { IS_FRESH, type LinkedPullRequest } from "../forge/pull-requests.ts";
import { hasUsableLink, IS_USABLE, linkedRepositoryJson, type Repository } from "../forge/repositories.ts";

/** A card's link to a repository, with its branch and pull requests there. */
export interface Link {
  readonly repository: Repository;
  readonly branchName: string | null;
  readonly headSha: string | null;
  readonly pullRequests: readonly LinkedPullRequest[];
}

const LINKS = `
     select ${linkedRepositoryJson(IS_USABLE)} as repository,
            cr.branch_name as "branchName", cr.head_sha as "headSha",
            coalesce((select json_agg(json_build_object('number', p.number, 'nodeId', p.node_id,
                               'targetBranch', p.target_branch, 'state', p.state, 'headSha', p.head_sha,
                               'headBranch', p.head_branch, 'isFresh', ${IS_FRESH})
                             order by p.number desc)
                        from pull_requests p
                       where p.card_id = cr.card_id and p.repository_id = cr.repository_id), '[]') as "pullRequests"
       from card_repositories cr
       join repositories r on r.id = cr.repository_id
       join organizations o on o.id = r.organization_id
      where cr.card_id = :cardId
      order by r.full_name`;

/** Lists the links of a card by repository name. */
export const listLinks = (db: Db, cardId: string): Promise<Link[]> => rows<Link>(db, LINKS, { cardId });

export async function countLinks(db: Db, cardId: string): Promise<number> {
  const links = "select count(*) from card_repositories where card_id = :cardId";
  return (await firstValue<number>(db, links, { cardId })) ?? 0;
}

/** Whether a card is linked to a repository that belongs to its project. */
export const isLinkUsable = (db: Db, cardId: string, repositoryId: string): Promise<boolean> =>
  exists(db, `select 1 where ${hasUsableLink(":cardId", ":repositoryId")}`, { cardId, repositoryId });

/** Links a card to repositories. Existing links are not changed. */
export async function insertLinks(db: Db, cardId: string, repositoryIds: readonly string[]): Promise<void> {
  await rows(
    db,
    `insert into card_repositories (card_id, repository_id, project_id)
     select :cardId, r.id, r.project_id from repositories r where r.id = any(cast(:repositoryIds as uuid[]))
     on conflict (card_id, repository_id) do nothing`,
    { cardId, repositoryIds: [...repositoryIds] },
  );
}

/** Links a new card to the repositories that its project links by default. */
export async function insertDefaultLinks(db: Db, cardId: string, projectId: string): Promise<void> {
  await rows(
    db,
    `insert into card_repositories (card_id, repository_id, project_id)
     select :cardId, r.id, r.project_id from repositories r where r.project_id = :projectId and r.link_by_default`,
    { cardId, projectId },
  );
}

/** Unlinks a card from repositories and records its branches there in `former_branches`. */
export async function removeLinks(db: Db, cardId: string, repositoryIds: readonly string[]): Promise<void> {
  await rows(
    db,
    `with removed as (
       delete from card_repositories where card_id = :cardId and repository_id = any(cast(:repositoryIds as uuid[]))
       returning repository_id, branch_name)
     insert into former_branches (repository_id, branch_name, card_id)
     select repository_id, branch_name, :cardId from removed where branch_name is not null
     on conflict (repository_id, branch_name) do update set card_id = excluded.card_id, left_at = now()`,
    { cardId, repositoryIds: [...repositoryIds] },
  );
}

interface LinkedCard {
  readonly cardId: string;
  readonly number: number;
  readonly repositoryId: string;
  readonly branchName: string | null;
  readonly openPullRequest: number | null;
  readonly hasMerged: boolean;
  readonly isMoving: boolean;
}

/** Lists the cards linked to these repositories by number and locks them in the transaction. */
export async function lockLinkedCards(trx: Trx, repositoryIds: readonly string[]): Promise<LinkedCard[]> {
  const bindings = { repositoryIds: [...repositoryIds] };
  // Two statements, because one that waits for a lock reads the state at its start.
  await rows(
    trx,
    `select c.id from cards c
      where c.deleted_at is null
        and c.id in (select cr.card_id from card_repositories cr where cr.repository_id = any(:repositoryIds))
      order by c.id for no key update`,
    bindings,
  );
  return rows<LinkedCard>(
    trx,
    `select c.id as "cardId", c.number, cr.repository_id as "repositoryId", cr.branch_name as "branchName",
            (select min(p.number) from pull_requests p
              where p.card_id = c.id and p.repository_id = cr.repository_id and p.state in ('draft', 'open')
            ) as "openPullRequest",
            exists (select 1 from pull_requests p
                     where p.card_id = c.id and p.repository_id = cr.repository_id and p.state = 'merged'
            ) as "hasMerged",
            exists (select 1 from operations o
                     where o.card_id = c.id and o.state in ('running', 'queued')) as "isMoving"
       from card_repositories cr join cards c on c.id = cr.card_id
      where cr.repository_id = any(:repositoryIds) and c.deleted_at is null
      order by c.number, cr.repository_id`,
    bindings,
  );
}
