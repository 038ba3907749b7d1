import { firstRow, type Db } from "../db/connect.ts";

/** A pull request of somebody else's that aims at a card's branch. */
export interface Proposal {
  readonly repositoryId: string;
  readonly number: number;
  readonly cardId: string;
  readonly authorId: string;
  readonly title: string;
  readonly headBranch: string;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
  readonly headSha: string;
  /** The forge's time of this news (ISO 8601). */
  readonly heardAt: string | null;
}

/** Records what a proposal looks like now. Older news than what is known changes nothing, and merged is final. True where nothing was known of it. */
export async function saveProposal(db: Db, proposal: Proposal): Promise<boolean> {
  const saved = await firstRow<{ isNew: boolean }>(
    db,
    `insert into proposals as p
            (repository_id, number, card_id, author_id, title, head_branch, target_branch, state, head_sha, opened_at, heard_at)
     values (:repositoryId, :number, :cardId, :authorId, :title, :headBranch, :targetBranch, :state, :headSha,
             coalesce(cast(:heardAt as timestamptz), now()), :heardAt)
     on conflict (repository_id, number) do update
       set card_id = excluded.card_id, title = excluded.title, target_branch = excluded.target_branch,
           state = excluded.state, head_sha = excluded.head_sha,
           round = p.round + case when ${IS_REOPENED} then 1 else 0 end,
           opened_at = case when ${IS_REOPENED} then excluded.opened_at else p.opened_at end,
           revived_after = case when ${IS_REOPENED} or excluded.head_sha <> p.head_sha
             then coalesce((select max(t.seq) from timeline_items t where t.card_id = excluded.card_id), 0)
             else p.revived_after end,
           heard_at = coalesce(excluded.heard_at, p.heard_at)
       where (p.state <> 'merged' or excluded.state = 'merged')
         and (excluded.state = 'merged' or excluded.heard_at is null or p.heard_at is null
              or excluded.heard_at >= p.heard_at)
     returning xmax = 0 as "isNew"`,
    { ...proposal },
  );
  return saved?.isNew ?? false;
}

const IS_REOPENED = "(p.state = 'closed' and excluded.state in ('draft', 'open'))";

/** It aims at no card's branch any more. */
export async function removeProposal(db: Db, repositoryId: string, number: number): Promise<void> {
  await db("proposals").where({ repository_id: repositoryId, number }).delete();
}

export interface ProposedCard {
  readonly cardId: string;
  readonly workspaceId: string;
}

/** The card whose branch this pull request aims at, or null. */
export async function findProposedCard(
  db: Db,
  repositoryId: string,
  number: number,
): Promise<ProposedCard | null> {
  return firstRow<ProposedCard>(
    db,
    `select c.id as "cardId", c.workspace_id as "workspaceId" from proposals p join cards c on c.id = p.card_id
      where p.repository_id = :repositoryId and p.number = :number and c.deleted_at is null`,
    { repositoryId, number },
  );
}
