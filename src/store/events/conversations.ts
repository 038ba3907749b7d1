import { hasUsableLink } from "../forge/repositories.ts";
import { firstRow, rows, type Db } from "../db/connect.ts";

/** The `prNumber` of a conversation that is a card's branch, not a proposal. */
const NO_PROPOSAL = 0;

/** A card's branch with its pull requests in one repository, or a proposal. */
export interface Conversation {
  readonly cardId: string;
  readonly workspaceId: string;
  readonly repositoryId: string;
  /** The number of the proposal, or `NO_PROPOSAL`. */
  readonly prNumber: number;
}

/** The conversation on a card's branch. */
export const conversationOfBranch = (branch: Omit<Conversation, "prNumber">): Conversation => ({
  ...branch,
  prNumber: NO_PROPOSAL,
});

export const isProposal = ({ prNumber }: Conversation): boolean => prNumber !== NO_PROPOSAL;

/** The conversation of a pull request. Null if it belongs to no card. */
export async function findConversation(
  db: Db,
  repositoryId: string,
  number: number,
): Promise<Conversation | null> {
  return firstRow<Conversation>(
    db,
    `select c.id as "cardId", c.workspace_id as "workspaceId", p.repository_id as "repositoryId", p.pr_number as "prNumber"
       from (select card_id, repository_id, ${NO_PROPOSAL} as pr_number from pull_requests pull
              where repository_id = :repositoryId and number = :number
                and ${hasUsableLink("pull.card_id", "pull.repository_id")}
             union all
             select card_id, repository_id, number from proposals
              where repository_id = :repositoryId and number = :number) p
       join cards c on c.id = p.card_id and c.deleted_at is null
       join repositories r on r.id = p.repository_id and r.project_id = c.project_id
      order by p.pr_number limit 1`,
    { repositoryId, number },
  );
}

/** Lists the conversations of the branches and the open proposals whose head is this commit. */
export async function listConversationsAt(
  db: Db,
  repositoryId: string,
  sha: string,
): Promise<Conversation[]> {
  return rows<Conversation>(
    db,
    `select c.id as "cardId", c.workspace_id as "workspaceId", p.repository_id as "repositoryId", p.pr_number as "prNumber"
       from (select card_id, repository_id, ${NO_PROPOSAL} as pr_number from card_repositories
              where repository_id = :repositoryId and head_sha = :sha and project_id is not null
             union all
             select card_id, repository_id, number from proposals
              where repository_id = :repositoryId and head_sha = :sha and state in ('draft', 'open')) p
       join cards c on c.id = p.card_id and c.deleted_at is null
       join repositories r on r.id = p.repository_id and r.project_id = c.project_id`,
    { repositoryId, sha },
  );
}

const keyOf = ({ cardId, repositoryId, prNumber }: Conversation): Record<string, string | number> => ({
  card_id: cardId,
  repository_id: repositoryId,
  pr_number: prNumber,
});

interface Activity {
  readonly userId: string;
  /** True for a push or the opening of a pull request; false for a comment. */
  readonly isPushOrOpening: boolean;
  /** GitHub's time (ISO 8601); null is now. */
  readonly at: string | null;
}

/** Records the time of a user's last activity. Events may arrive in any order. */
export async function recordConversationActivity(
  db: Db,
  conversation: Conversation,
  activity: Activity,
): Promise<void> {
  const { cardId, repositoryId, prNumber } = conversation;
  await db.raw(
    `insert into last_reactions as t (card_id, repository_id, pr_number, user_id, works, acted_at)
     values (:cardId, :repositoryId, :prNumber, :userId, :isPushOrOpening, coalesce(cast(:at as timestamptz), now()))
     on conflict (card_id, repository_id, pr_number, user_id) do update
       set works = t.works or excluded.works, acted_at = greatest(t.acted_at, excluded.acted_at)`,
    { cardId, repositoryId, prNumber, ...activity },
  );
}

/** A review, a failing check or a question that an agent should react to. */
export interface AwaitedReaction {
  readonly kind: "changes_requested" | "checks_failing" | "question";
  /** The review, the commit, or the comment. */
  readonly subject: string;
  readonly askedBy: string | null;
  /** GitHub's time (ISO 8601); null is now. */
  readonly at: string | null;
}

/** Records an awaited reaction. An existing record is unchanged. */
export async function recordAwaitedReaction(
  db: Db,
  conversation: Conversation,
  ask: AwaitedReaction,
): Promise<void> {
  await db("awaited_reactions")
    .insert({
      ...keyOf(conversation),
      kind: ask.kind,
      subject: ask.subject,
      asked_by: ask.askedBy,
      asked_at: ask.at ?? db.fn.now(),
    })
    .onConflict(["card_id", "repository_id", "pr_number", "kind", "subject"])
    .ignore();
}

/** Deletes the awaited reactions that match the filter, by default all. */
export async function deleteAwaitedReactions(
  db: Db,
  conversation: Conversation,
  filter: {
    readonly kind?: AwaitedReaction["kind"];
    readonly subject?: string;
    readonly askedBy?: string;
  } = {},
): Promise<void> {
  const { kind, subject, askedBy } = filter;
  await db("awaited_reactions")
    .where({
      ...keyOf(conversation),
      ...(kind !== undefined && { kind }),
      ...(subject !== undefined && { subject }),
      ...(askedBy !== undefined && { asked_by: askedBy }),
    })
    .delete();
}
