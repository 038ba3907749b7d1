import { firstRow, firstValue, rows, type Db } from "../db/connect.ts";

export type IntentKind = "create_branch" | "open_pull_request" | "mark_ready" | "merge";

/** Something Trunkline is about to do, or did, on the forge. */
export interface Intent {
  readonly repositoryId: string;
  readonly kind: IntentKind;
  /** The branch, `head:target`, or the pull request's number. */
  readonly subject: string;
  readonly cardId: string;
  readonly actorId: string;
}

/** A move as its holder knows it. */
export interface HeldMove {
  readonly id: string;
  readonly attempt: number;
}

/** SQL that is true while `:moveId` is its holder's, or nothing is done under a move. */
const IS_HELD_MOVE = `
  (cast(:moveId as uuid) is null
   or exists (select 1 from operations where id = :moveId and attempt = :attempt and state = 'running'))`;

const bindingsOf = (move: HeldMove | null) => ({ moveId: move?.id ?? null, attempt: move?.attempt ?? 0 });

/** An intent as it was written down. */
export interface RecordedIntent {
  readonly round: number;
  /** Whether it was meant before and never known to be done. */
  readonly isRepeated: boolean;
  /** Of an opening: the greatest number of a pull request known in the repository when this round was first meant. */
  readonly knownUpTo: number | null;
}

/** SQL that writes an intent down where that is wanted, and changes one that is there where that is. */
const recordedIf = (isWanted: string, isToBeChanged: string): string => `
     insert into forge_intents as i (repository_id, kind, subject, card_id, actor_id, known_up_to)
     select :repositoryId, :kind, :subject, :cardId, :actorId,
            case when :kind = 'open_pull_request'
                 then (select coalesce(max(number), 0) from pull_requests where repository_id = :repositoryId) end
      where ${isWanted}
     on conflict (repository_id, kind, subject) do update
       set actor_id = excluded.actor_id, card_id = excluded.card_id, done = false,
           round = i.round + case when i.done then 1 else 0 end,
           known_up_to = case when i.done then excluded.known_up_to else i.known_up_to end
       where ${isToBeChanged}
     returning round, known_up_to as "knownUpTo",
               coalesce((select not e.done from forge_intents e where e.repository_id = i.repository_id
                            and e.kind = i.kind and e.subject = i.subject), false) as "isRepeated"`;

const RECORD = recordedIf(IS_HELD_MOVE, "true");
const IS_FREE = `
  not exists (select 1 from card_repositories cr where cr.repository_id = :repositoryId and cr.branch_name = :subject and cr.project_id is not null)`;
const RECORD_CUT = recordedIf(`${IS_HELD_MOVE} and ${IS_FREE}`, "i.done or i.card_id = excluded.card_id");

/**
 * Writes down what we are about to do, before it is done: trying again what was never known to be done is the
 * same round, doing again what was done is the next. Under a move that is not this holder's any more nothing is written: null.
 */
export async function recordIntent(
  db: Db,
  intent: Intent,
  move: HeldMove | null = null,
): Promise<RecordedIntent | null> {
  return firstRow<RecordedIntent>(db, RECORD, { ...intent, ...bindingsOf(move) });
}

/** The same of a branch that is to be cut, unless any card, a deleted one included, has or had one of this name, or another's is about to be cut by it. */
export async function recordCutIntent(
  db: Db,
  intent: Intent,
  move: HeldMove | null,
): Promise<RecordedIntent | "taken" | "not_held"> {
  const bindings = { ...intent, ...bindingsOf(move) };
  const recorded = await firstRow<RecordedIntent>(db, RECORD_CUT, bindings);
  if (recorded) return recorded;
  return (await firstRow(db, `select 1 where ${IS_HELD_MOVE}`, bindings)) ? "taken" : "not_held";
}

/** SQL that is true of an intent `i` to cut a card's branch, of which nobody knows what came. */
export const UNHEARD_CUT = "i.kind = 'create_branch' and not i.done and i.subject not like 'backmerge/%'";

export type IntentKey = Pick<Intent, "repositoryId" | "kind" | "subject">;

const columns = ({ repositoryId, kind, subject }: IntentKey): Record<string, string> => ({
  repository_id: repositoryId,
  kind,
  subject,
});

/**
 * The forge has taken a merge upon itself, and whatever comes of that is ours. By the handle, where it gave one, a later try asks about the
 * same merge; `queued` says that it waits in the forge's merge queue.
 */
export async function acceptMerge(
  db: Db,
  key: IntentKey,
  { handle, queued }: { readonly handle: string | null; readonly queued: boolean },
): Promise<void> {
  await db("forge_intents").where(columns(key)).update({ accepted: true, handle, queued });
}

/** What the forge's merge queue has told of a merge: its word for having thrown it out, or null for having it (again). */
interface QueueWord {
  readonly thrownOut: string | null;
  /** The forge's time (ISO 8601), where it gave one. */
  readonly at: string | null;
}

/** Keeps the newest that the queue has told of a merge that we mean to make; what is older changes nothing. */
export async function noteQueueWord(db: Db, key: IntentKey, { thrownOut, at }: QueueWord): Promise<void> {
  await rows(
    db,
    `update forge_intents
        set queued = true, thrown_out = :thrownOut, queue_told_at = coalesce(cast(:at as timestamptz), queue_told_at)
      where repository_id = :repositoryId and kind = :kind and subject = :subject and not done
        and (queue_told_at is null or cast(:at as timestamptz) is null or queue_told_at <= :at)`,
    { ...key, thrownOut, at },
  );
}

/** It is done: by us, for good. */
export async function fulfilIntent(db: Db, key: IntentKey): Promise<void> {
  await db("forge_intents").where(columns(key)).update({ done: true });
}

/**
 * The forge refused: whatever happens there from now on is somebody else's. Under a move that is not this holder's any more nothing changes: the
 * one who has it now may be about to do the same.
 */
export async function withdrawIntent(db: Db, key: IntentKey, move: HeldMove | null = null): Promise<void> {
  const { repositoryId, kind, subject } = key;
  await rows(
    db,
    `delete from forge_intents
      where repository_id = :repositoryId and kind = :kind and subject = :subject and not done and ${IS_HELD_MOVE}`,
    { repositoryId, kind, subject, ...bindingsOf(move) },
  );
}

export interface FoundIntent {
  readonly cardId: string;
  readonly actorId: string;
  readonly handle: string | null;
  readonly accepted: boolean;
  /** Of a merge: the forge has it in its merge queue, or had. */
  readonly queued: boolean;
  /** The word of the forge's queue for having thrown it out; null while none was heard. */
  readonly thrownOut: string | null;
  readonly done: boolean;
  readonly round: number;
}

const FOUND = `
  select i.card_id as "cardId", i.actor_id as "actorId", i.handle, i.accepted, i.queued, i.thrown_out as "thrownOut", i.done, i.round
    from forge_intents i`;

/** What we last meant to merge into a branch, or null. */
export async function findLatestMerge(
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

/** The repository of what was last about to be done for a card and never known to be done, or null. */
export async function findUndone(db: Db, cardId: string): Promise<string | null> {
  return firstValue<string>(
    db,
    `select repository_id as "repositoryId" from forge_intents
      where card_id = :cardId and not done order by created_at desc limit 1`,
    { cardId },
  );
}

/** Our intent for this deed, or null when it was never ours. */
export async function findIntent(db: Db, key: IntentKey): Promise<FoundIntent | null> {
  return firstRow<FoundIntent>(
    db,
    `${FOUND} where i.repository_id = :repositoryId and i.kind = :kind and i.subject = :subject`,
    { ...key },
  );
}

/**
 * The branch we meant to cut for a card that has none there, and never knew to be cut, or null: its answer was lost, and its move has ended otherwise
 * since, or the card is called otherwise.
 */
export async function findUnheardCut(
  db: Db,
  cardId: string,
  repositoryId: string,
): Promise<{ readonly branchName: string; readonly actorId: string } | null> {
  return firstRow(
    db,
    `select i.subject as "branchName", i.actor_id as "actorId"
       from forge_intents i join card_repositories cr on cr.card_id = i.card_id and cr.repository_id = i.repository_id
      where i.card_id = :cardId and i.repository_id = :repositoryId and cr.branch_name is null and ${UNHEARD_CUT}
      order by i.created_at desc limit 1`,
    { cardId, repositoryId },
  );
}
