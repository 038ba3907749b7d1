import { commitsBetween } from "../../sandbox/forge/git/history.ts";
import { authorsOf } from "../../sandbox/forge/git/commits.ts";
import { accountOfEmail } from "../../sandbox/forge/present/commit.ts";
import { rows } from "../../src/store/db/connect.ts";
import type { TestBoard } from "../../test/support/world.ts";
import { UNIX_MS, type Invariant, type Subject } from "./subject.ts";

/** A card that entered a stage, or was deleted, in the order in which cards did so. */
interface EntryRow {
  readonly at: number;
  readonly card: number;
  /** Null if it was deleted. */
  readonly to: string | null;
  /** Null if no credential moved it. */
  readonly clientId: string | null;
  readonly isMove: boolean;
  /** The account that owns the credential. */
  readonly person: number | null;
  /** When the call that moved it began. */
  readonly begunAt: number | null;
}

interface GatesRow {
  readonly at: number;
  readonly stageId: string;
  readonly wipLimit: number | null;
  readonly humanOnly: boolean;
  readonly secondPerson: boolean;
}

// Invariant: I17 No card is in a stage whose gates it did not pass
/**
 * When a card entered a stage, the stage had room for it by its limit then; no credential moved it
 * if the stage was for people only; and the owner of the credential that moved it where a second
 * person is needed had written no commit that the move merged.
 */
export const gatesAreClosed: Invariant = async (subject) => {
  const gates = await rows<GatesRow>(
    subject.world.deps.db,
    `select ${UNIX_MS("at")}, stage_id as "stageId", wip_limit as "wipLimit", human_only as "humanOnly",
            second_person as "secondPerson" from faults.gates order by at`,
  );
  const found: string[] = [];
  for (const board of subject.world.boards) found.push(...(await passedGates(subject, board, gates)));
  return found;
};

async function passedGates(
  subject: Subject,
  board: TestBoard,
  gates: readonly GatesRow[],
): Promise<string[]> {
  const found: string[] = [];
  const stages = new Map<number, string | null>();
  for (const entry of await readEntries(subject, board)) {
    stages.set(entry.card, entry.to);
    const { card, to, at, clientId, isMove, person } = entry;
    const gate = gates.findLast((each) => each.stageId === to && each.at <= at);
    if (!gate || !isMove) continue;
    const tell = (what: string): void =>
      void found.push(`${board.owner} card ${card} entered ${to} by ${clientId} ${what}`);
    const count = [...stages.values()].filter((stage) => stage === to).length;
    if (gate.wipLimit !== null && count > gate.wipLimit)
      tell(`as one of ${count}; ${gate.wipLimit} may be there`);
    if (gate.humanOnly && clientId !== null) tell("but is for people only");
    if (!gate.secondPerson || clientId === null) continue;
    if (person === null) tell("but needs the agent of a second person");
    else if (await wroteMerged(subject, board, entry)) tell("whose owner wrote what it merged");
  }
  return found;
}

/** From the feed, whose events are written in the transaction that moves the card. */
const readEntries = ({ world }: Subject, { workspaceId }: TestBoard): Promise<EntryRow[]> =>
  rows<EntryRow>(
    world.deps.db,
    `select ${UNIX_MS("e.written_at")}, e.card_number as card, e.kind = 'status_changed' as "isMove",
            case e.kind when 'status_changed' then e.data->>'to' when 'card_created' then e.data->'to'->>'statusId' end as "to",
            k.client_id as "clientId", p.forge_account_id as person,
            extract(epoch from a.occurred_at)::float8 * 1000 as "begunAt"
       from events e left join credentials k on k.user_id = (e.actor->'user'->>'id')::uuid
       left join users p on p.id = k.owner_id left join audit_log a on a.id = e.attempt_id
      where e.workspace_id = :workspaceId and e.kind in ('status_changed', 'card_created', 'card_deleted') order by e.id`,
    { workspaceId },
  );

/** GitHub's times are in whole seconds. */
const SECOND = 1_000;

/** Whether an account wrote commits of a pull request that Trunkline merged while it moved the card. */
async function wroteMerged(
  { world }: Subject,
  { workspaceId }: TestBoard,
  { card, person, at, begunAt }: EntryRow,
): Promise<boolean> {
  const { context, app } = world.forge;
  const pulls = await rows<{ forgeId: number; number: number }>(
    world.deps.db,
    `select r.forge_id as "forgeId", p.number from pull_requests p join repositories r on r.id = p.repository_id
       join cards c on c.id = p.card_id where c.workspace_id = :workspaceId and c.number = :card`,
    { workspaceId, card },
  );
  for (const { forgeId, number } of pulls) {
    const pull = context.state.pullRequests.inGroup(forgeId).find((each) => each.number === number);
    const mergedAt = Date.parse(pull?.mergedAt ?? "");
    if (pull?.mergedById !== app.botId || mergedAt > at || mergedAt < (begunAt ?? 0) - SECOND) continue;
    // What its target lacked: the parent of the merge is the tip before it.
    const commits = await commitsBetween(
      context.git.repository(forgeId),
      `${pull.mergeCommitSha}^1`,
      pull.headSha,
    );
    const emails = commits.flatMap((commit) => authorsOf(commit).map(({ email }) => email));
    if (emails.some((email) => accountOfEmail(context, email)?.id === person)) return true;
  }
  return false;
}
