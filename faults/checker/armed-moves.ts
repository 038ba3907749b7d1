import { rows } from "../../src/store/db/connect.ts";
import { readInbox } from "../../test/support/inbox.ts";
import { ACCESS_ENDED, type AccessEnd } from "../injected/access.ts";
import { responseOf, UNIX_MS, type Invariant, type Subject } from "./subject.ts";

/** An armed move, as a trigger recorded it, and how it ended. */
interface ArmedRow {
  readonly id: string;
  readonly what: string;
  /** Whether it still waits. */
  readonly isWaiting: boolean;
  readonly isExpired: boolean;
  /** How many moves that fired it have put the card into its stage. */
  readonly landings: number;
  /** The reasons of its events `disarmed`. */
  readonly reasons: readonly (string | null)[];
  readonly heads: readonly string[];
}

/** The beginning of a move that fires an armed one. */
interface FiringRow {
  readonly what: string;
  /** The start of the transaction that checked it. */
  readonly at: number;
  readonly actorId: string;
  readonly isArmed: boolean;
  readonly isExpired: boolean;
  /** Whether its stage was for people only, and no person had armed it. */
  readonly isForPeople: boolean;
}

const WHAT = `o.slug || ' card ' || c.number || ': the armed move ' || a.id as what`;
const CARD = `join cards c on c.id = a.card_id join workspaces w on w.id = c.workspace_id
              join organizations o on o.id = w.organization_id`;

// Invariant: I16 An armed move lands the armed heads once, or is disarmed with a reason
/**
 * An armed move ends once: its card enters the stage, or an event has the reason, and the inbox too
 * if no caller asked for it. It merges the heads that it was armed with, which are those that the
 * caller named. It fires only while it is armed and has not expired, its mover has access, and its
 * stage is open to it. None waits after its expiry.
 */
export const armedMovesLandOnce: Invariant = async (subject) => {
  const armed = await readArmed(subject);
  return [
    ...armed.flatMap(wrongEnd),
    ...otherHeads(subject, armed),
    ...(await wrongFirings(subject)),
    ...(await wrongMerges(subject)),
    ...(await wrongInboxes(subject)),
  ];
};

const readArmed = ({ world }: Subject): Promise<ArmedRow[]> =>
  rows<ArmedRow>(
    world.deps.db,
    `select a.id, ${WHAT}, m.operation_id is not null as "isWaiting", coalesce(m.expires_at <= now(), false) as "isExpired",
            (select count(*)::int from faults.fired f
              where f.armed_id = a.id and f.state in ('done', 'queued')) as landings,
            (select coalesce(json_agg(e.data->>'reason'), '[]') from events e
              where e.kind = 'disarmed' and e.data->>'armedId' = a.id::text) as reasons,
            (select coalesce(json_agg(h.value->>'sha'), '[]') from jsonb_each(a.armed_with) h) as heads
       from faults.armed_moves a ${CARD} left join armed_moves m on m.operation_id = a.id order by c.number`,
  );

function wrongEnd({ what, isWaiting, isExpired, landings, reasons }: ArmedRow): string[] {
  if (isExpired) return [`${what} has expired, but still waits`];
  const ends = `it landed ${landings} times and was disarmed with [${reasons.join(", ")}]`;
  const isRight = landings + reasons.length === (isWaiting ? 0 : 1) && !reasons.includes(null);
  return isRight ? [] : [`${what} ${isWaiting ? "still waits" : "has ended"}, but ${ends}`];
}

/** The calls that named other heads than those that were armed, or whose armed move never existed. */
function otherHeads({ history }: Subject, armed: readonly ArmedRow[]): string[] {
  return history.calls.flatMap((call) => {
    const { sent, status, path, actor, key } = call;
    const asked = sent as MoveBody | null;
    if (status !== 202 || !path.endsWith("/move") || !asked?.whenReady) return [];
    const id = (responseOf(call) as { armed?: { id: string } }).armed?.id;
    if (id === undefined) return [];
    const heads = armed.find((each) => each.id === id)?.heads;
    const named = Object.values(asked.headShas ?? asked.whenReady.headShas ?? {});
    const isRight = heads !== undefined && named.every((sha) => heads.includes(sha));
    return isRight ? [] : [`${actor} ${key} armed ${id} with ${heads?.join()}, but named ${named.join()}`];
  });
}

interface MoveBody {
  readonly headShas?: Readonly<Record<string, string>>;
  readonly whenReady?: { readonly headShas?: Readonly<Record<string, string>> };
}

async function wrongFirings({ world, history }: Subject): Promise<string[]> {
  const ends = history.events.filter(({ name }) => name === ACCESS_ENDED);
  const firings = await rows<FiringRow>(
    world.deps.db,
    `select ${WHAT}, ${UNIX_MS("f.begun_at")}, a.actor_id as "actorId", f.is_armed as "isArmed",
            f.is_expired as "isExpired",
            not a.is_human and coalesce((select g.human_only from faults.gates g
               where g.stage_id = a.stage_id and g.at <= f.at order by g.at desc limit 1), false) as "isForPeople"
       from faults.fired f join faults.armed_moves a on a.id = f.armed_id ${CARD} where f.is_begun order by f.at`,
  );
  return firings.flatMap(({ what, at, actorId, isArmed, isExpired, isForPeople }) => {
    const isEnded = ends.some((end) => end.at < at && (end.detail as AccessEnd).userId === actorId);
    return [
      ...(isArmed ? [] : [`${what} fired when it was not armed`]),
      ...(isExpired ? [`${what} fired after it had expired`] : []),
      ...(isForPeople ? [`${what} fired into a stage for people only`] : []),
      ...(isEnded ? [`${what} fired after the access of its mover had ended`] : []),
    ];
  });
}

/** What firing moves merged, where it is not the head that the move was armed with. */
async function wrongMerges({ world }: Subject): Promise<string[]> {
  const merges = await rows<{ what: string; forgeId: number; number: number; sha: string }>(
    world.deps.db,
    `select distinct ${WHAT}, r.forge_id as "forgeId", p.number, h.value->>'sha' as sha
       from faults.fired f join faults.armed_moves a on a.id = f.armed_id ${CARD}
       join operations m on m.id = a.id cross join jsonb_each(a.armed_with) h
       join repositories r on r.id = h.key::uuid
       join pull_requests p on p.card_id = a.card_id and p.repository_id = r.id
      where m.progress->'promoted' @> jsonb_build_array(jsonb_build_object('prNumber', p.number, 'targetBranch', p.target_branch))`,
  );
  return merges.flatMap(({ what, forgeId, number, sha }) => {
    const pulls = world.forge.context.state.pullRequests.inGroup(forgeId);
    const pull = pulls.find((each) => each.number === number);
    return pull?.mergedById !== world.forge.app.botId || pull.headSha === sha
      ? []
      : [`${what} was armed with ${sha}, but merged ${pull.headSha}`];
  });
}

/** Disarmings that a caller asked for. The others are in the inbox until the card moves or is armed. */
const REQUESTED = ["cancelled", "replaced", "moved", "card_deleted"];

async function wrongInboxes({ world }: Subject): Promise<string[]> {
  const found: string[] = [];
  for (const { api, workspaceId, projectId, owner } of world.boards) {
    const inbox = await readInbox(api, projectId);
    const shown = inbox.filter(({ kind }) => kind === "move_disarmed").map(({ data }) => data["armedId"]);
    const last = await rows<{ card: number; kind: string; reason: string; armedId: string }>(
      world.deps.db,
      `select distinct on (e.card_number) e.card_number as card, e.kind, e.data->>'reason' as reason,
              e.data->>'armedId' as "armedId"
         from events e join cards c on c.workspace_id = e.workspace_id and c.number = e.card_number
        where e.workspace_id = :workspaceId and c.deleted_at is null
          and (e.kind in ('armed', 'status_changed')
               or e.kind = 'disarmed' and not e.data->>'reason' = any(:requested))
        order by e.card_number, e.id desc`,
      { workspaceId, requested: REQUESTED },
    );
    const open = last.filter(({ kind }) => kind === "disarmed");
    found.push(
      ...open
        .filter(({ armedId }) => !shown.includes(armedId))
        .map(
          ({ card, reason }) => `${owner} card ${card}: was disarmed (${reason}), but is not in the inbox`,
        ),
      ...shown
        .filter((id) => !open.some(({ armedId }) => armedId === id))
        .map((id) => `${owner}: the inbox has the disarmed move ${String(id)}, whose card has moved since`),
    );
  }
  return found;
}
