import { columnsOf, firstRow, firstValue, rows, type Db } from "../db/connect.ts";
import type { OwnedOperation } from "./operations.ts";

export type IntentKind = "create_branch" | "open_pull_request" | "mark_ready" | "merge";

/** What Trunkline is about to do on GitHub, or has done. */
export interface Intent {
  readonly repositoryId: string;
  readonly kind: IntentKind;
  /** The branch, `head:target`, or the pull request's number. */
  readonly subject: string;
  readonly cardId: string;
  readonly actorId: string;
  /** Of a merge: the rules that it bypasses. */
  readonly bypassed?: readonly string[] | undefined;
}

/** SQL for whether this process owns the move `:moveId`, or acts outside of a move. */
const OWNS_MOVE = `
  (cast(:moveId as uuid) is null
   or exists (select 1 from operations where id = :moveId and generation = :generation and state = 'running'))`;

const bindingsOf = (move: OwnedOperation | null) => ({
  moveId: move?.id ?? null,
  generation: move?.generation ?? 0,
});

const bindingsOfIntent = ({ bypassed = [], ...intent }: Intent) => ({ ...intent, bypassed: [...bypassed] });

export interface RecordedIntent {
  readonly round: number;
  /** Whether an earlier attempt recorded it and its result is unknown. */
  readonly isRetry: boolean;
  /**
   * For `open_pull_request`: the highest number of a stored pull request of the repository when
   * this round began.
   */
  readonly highestKnownNumber: number | null;
}

/** SQL that records an intent. In `returning`, the subselect finds the row from before the statement. */
const insertIf = (mayInsert: string, mayUpdate: string): string => `
     insert into forge_intents as i (repository_id, kind, subject, card_id, actor_id, bypassed, known_up_to)
     select :repositoryId, :kind, :subject, :cardId, :actorId, cast(:bypassed as text[]),
            case when :kind = 'open_pull_request'
                 then (select coalesce(max(number), 0) from pull_requests where repository_id = :repositoryId) end
      where ${mayInsert}
     on conflict (repository_id, kind, subject) do update
       set actor_id = excluded.actor_id, card_id = excluded.card_id, bypassed = excluded.bypassed, done = false,
           round = i.round + case when i.done then 1 else 0 end,
           known_up_to = case when i.done then excluded.known_up_to else i.known_up_to end
       where ${mayUpdate}
     returning round, known_up_to as "highestKnownNumber",
               coalesce((select not e.done from forge_intents e where e.repository_id = i.repository_id
                            and e.kind = i.kind and e.subject = i.subject), false) as "isRetry"`;

const RECORD = insertIf(OWNS_MOVE, "true");
const IS_FREE = `
  not exists (select 1 from card_repositories cr
               where cr.repository_id = :repositoryId and cr.branch_name = :subject and cr.project_id is not null)`;
const HAS_BRANCH = `
  exists (select 1 from card_repositories
           where card_id = :cardId and repository_id = :repositoryId and branch_name is not null and project_id is not null)`;
const RECORD_BRANCH = insertIf(
  `${OWNS_MOVE} and not ${HAS_BRANCH} and ${IS_FREE}`,
  "i.done or i.card_id = excluded.card_id",
);

/**
 * Records an intent before its effect. A retry stays in the same round; repeating an effect that is
 * done begins the next round. Null if another process owns the move.
 */
export async function recordIntent(
  db: Db,
  intent: Intent,
  move: OwnedOperation | null = null,
): Promise<RecordedIntent | null> {
  return firstRow<RecordedIntent>(db, RECORD, { ...bindingsOfIntent(intent), ...bindingsOf(move) });
}

/**
 * Records the intent to create a branch. `has_branch` if the card has got its branch in the
 * meantime; `taken` if a card (a deleted one included) has a branch of this name, or if one
 * is being created for another card.
 */
export async function recordBranchIntent(
  db: Db,
  intent: Intent,
  move: OwnedOperation | null,
): Promise<RecordedIntent | "has_branch" | "taken" | "not_owned"> {
  const bindings = { ...bindingsOfIntent(intent), ...bindingsOf(move) };
  const recorded = await firstRow<RecordedIntent>(db, RECORD_BRANCH, bindings);
  if (recorded) return recorded;
  const why = await firstValue<"has_branch" | "taken" | "not_owned">(
    db,
    `select case when not ${OWNS_MOVE} then 'not_owned' when ${HAS_BRANCH} then 'has_branch' else 'taken' end`,
    bindings,
  );
  return why ?? "taken";
}

/**
 * SQL for whether `i` is an intent to create a card's branch whose result is unknown. The branches
 * `backmerge/…` belong to back-merges (`actions/releases/back-merge.ts`).
 */
export const IS_UNCONFIRMED_BRANCH =
  "i.kind = 'create_branch' and not i.done and i.subject not like 'backmerge/%'";

export type IntentKey = Pick<Intent, "repositoryId" | "kind" | "subject">;

const columns = ({ repositoryId, kind, subject }: IntentKey) => columnsOf({ repositoryId, kind, subject });

/**
 * Records that GitHub accepted a merge and finishes it later. `handle` identifies the asynchronous
 * merge; `inMergeQueue` means that it waits in GitHub's merge queue.
 */
export async function recordAcceptedMerge(
  db: Db,
  key: IntentKey,
  { handle, inMergeQueue }: { readonly handle: string | null; readonly inMergeQueue: boolean },
): Promise<void> {
  await db("forge_intents").where(columns(key)).update({ accepted: true, handle, queued: inMergeQueue });
}

interface QueueEvent {
  /** GitHub's reason for removing the pull request from its merge queue; null when it was added. */
  readonly queueRemovalReason: string | null;
  /** GitHub's time (ISO 8601), if known. */
  readonly at: string | null;
}

/** Records the newest merge queue event of an unfinished merge; an older event changes nothing. */
export async function recordQueueEvent(
  db: Db,
  key: IntentKey,
  { queueRemovalReason, at }: QueueEvent,
): Promise<void> {
  await rows(
    db,
    `update forge_intents
        set queued = true, queue_removal_reason = :queueRemovalReason, queue_event_at = coalesce(cast(:at as timestamptz), queue_event_at)
      where repository_id = :repositoryId and kind = :kind and subject = :subject and not done
        and (queue_event_at is null or cast(:at as timestamptz) is null or queue_event_at <= :at)`,
    { ...key, queueRemovalReason, at },
  );
}

export async function completeIntent(db: Db, key: IntentKey): Promise<void> {
  await db("forge_intents").where(columns(key)).update({ done: true });
}

/**
 * Deletes an intent that GitHub refused: a later effect of this kind is not Trunkline's. Does
 * nothing if another process owns the move, because it may be about to repeat the effect.
 */
export async function withdrawIntent(
  db: Db,
  key: IntentKey,
  move: OwnedOperation | null = null,
): Promise<void> {
  const { repositoryId, kind, subject } = key;
  await rows(
    db,
    `delete from forge_intents
      where repository_id = :repositoryId and kind = :kind and subject = :subject and not done and ${OWNS_MOVE}`,
    { repositoryId, kind, subject, ...bindingsOf(move) },
  );
}

export interface FoundIntent {
  readonly cardId: string;
  readonly actorId: string;
  readonly handle: string | null;
  readonly accepted: boolean;
  /** For a merge: whether it is or was in GitHub's merge queue. */
  readonly wasQueued: boolean;
  /** GitHub's reason for removing it from the merge queue, or null. */
  readonly queueRemovalReason: string | null;
  readonly done: boolean;
  /** The rules that a merge bypasses. */
  readonly bypassed: readonly string[];
  readonly round: number;
  /** The attempt of the audit log that its effect belongs to, unless it is done. */
  readonly attemptId: string | null;
}

const FOUND = `
  select (select o.attempt_id from operations o
           where o.card_id = i.card_id and o.state in ('running', 'queued') and not i.done) as "attemptId",
         i.card_id as "cardId", i.actor_id as "actorId", i.handle, i.accepted, i.queued as "wasQueued", i.queue_removal_reason as "queueRemovalReason", i.done, i.bypassed, i.round
    from forge_intents i`;

/** The newest intent to merge into a branch, or null. */
export async function findLatestMergeIntent(
  db: Db,
  repositoryId: string,
  targetBranch: string,
): Promise<FoundIntent | null> {
  return firstRow<FoundIntent>(
    db,
    `${FOUND} join pull_requests p on p.repository_id = i.repository_id and cast(p.number as text) = i.subject
      where i.repository_id = :repositoryId and i.kind = 'merge' and p.target_branch = :targetBranch
      order by i.created_at desc limit 1`,
    { repositoryId, targetBranch },
  );
}

/** The repository of a card's newest intent without a known result, or null. */
export async function findRepositoryOfPendingIntent(db: Db, cardId: string): Promise<string | null> {
  return firstValue<string>(
    db,
    `select repository_id as "repositoryId" from forge_intents
      where card_id = :cardId and not done order by created_at desc limit 1`,
    { cardId },
  );
}

/** The intent for an effect, or null if the effect is not Trunkline's. */
export async function findIntent(db: Db, key: IntentKey): Promise<FoundIntent | null> {
  return firstRow<FoundIntent>(
    db,
    `${FOUND} where i.repository_id = :repositoryId and i.kind = :kind and i.subject = :subject`,
    { ...key },
  );
}

/** The branch of a card that may exist because the response to its creation was lost, or null. */
export async function findUnconfirmedBranch(
  db: Db,
  cardId: string,
  repositoryId: string,
): Promise<{ readonly branchName: string; readonly actorId: string } | null> {
  return firstRow(
    db,
    `select i.subject as "branchName", i.actor_id as "actorId"
       from forge_intents i join card_repositories cr on cr.card_id = i.card_id and cr.repository_id = i.repository_id
      where i.card_id = :cardId and i.repository_id = :repositoryId and cr.branch_name is null and ${IS_UNCONFIRMED_BRANCH}
      order by i.created_at desc limit 1`,
    { cardId, repositoryId },
  );
}
