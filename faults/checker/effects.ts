import { rows } from "../../src/store/db/connect.ts";
import { ACCESS_ENDED, type AccessEnd } from "../injected/access.ts";
import type { ForgeEffect } from "../world/forge-effects.ts";
import { isSuccess, UNIX_MS, type Invariant, type Subject } from "./subject.ts";

/** Who caused a call to the forge. */
interface Cause {
  readonly projectId: string;
  readonly actorId: string;
  /** False for what a rule of a stage does without a request. */
  readonly isRequested: boolean;
}

/** A row that the audit recorded, by the time in Unix milliseconds. */
interface IntentRow extends Cause {
  readonly at: number;
  readonly forgeId: number | null;
  readonly kind: string;
  readonly subject: string;
}

interface OwnerRow {
  readonly at: number;
  readonly forgeId: number;
  readonly projectId: string | null;
}

/** The difference of two clocks of one machine, and the time between the last check and the call. */
const TOLERANCE_MS = 1_000;

// Invariant: I9
/**
 * After a revocation, a lower role or the removal of a member was acknowledged, no call
 * succeeds, and no branch, pull request or merge is requested for it. A call that was
 * sent to GitHub before may still take effect.
 */
export const endedAccessHasNoEffects: Invariant = async (subject) => {
  const { history, world } = subject;
  const ends = history.events.filter(({ name }) => name === ACCESS_ENDED);
  const causeOf = await readCauses(subject);
  const found: string[] = [];
  for (const { at, detail } of ends) {
    const { actor, userId, how } = detail as AccessEnd;
    const late = world.record.effects.filter((effect) => {
      const cause = causeOf(effect);
      return cause?.actorId === userId && cause.isRequested && effect.sentAt > at + TOLERANCE_MS;
    });
    const about = `${actor}, whose access ended (${how})`;
    found.push(
      ...late.map(
        ({ route, subject: what, sentAt }) => `${route} ${what} for ${about} ${sentAt - at} ms earlier`,
      ),
      ...history.calls
        .filter((call) => call.actor === actor && call.key !== null && call.start > at && isSuccess(call))
        .map(({ method, path, status }) => `${method} ${path} by ${about} earlier, was answered ${status}`),
    );
  }
  return found;
};

// Invariant: I9
/** Each call about a card or release concerned a repository that belonged to its project. */
export const repositoriesHaveOneBoard: Invariant = async (subject) => {
  const { world } = subject;
  const causeOf = await readCauses(subject);
  const owners = await rows<OwnerRow>(
    world.deps.db,
    `select ${UNIX_MS("at")}, forge_id as "forgeId", project_id as "projectId" from faults.owners order by at`,
  );
  return world.record.effects.flatMap((effect) => {
    const { forgeId, sentAt, route, subject: what } = effect;
    const cause = causeOf(effect);
    if (!cause || forgeId === null) return [];
    const own = owners.filter((owner) => owner.forgeId === forgeId);
    const before = own.findLast(({ at }) => at <= sentAt - TOLERANCE_MS);
    const during = own.filter(({ at }) => at > sentAt - TOLERANCE_MS && at <= sentAt + TOLERANCE_MS);
    const isOwn = [before, ...during].some((owner) => owner?.projectId === cause.projectId);
    const now = own.findLast(({ at }) => at <= sentAt)?.projectId ?? "none";
    return isOwn
      ? []
      : [`${route} ${what} in ${forgeId} for the project ${cause.projectId}; it belonged to ${now}`];
  });
};

/** Finds the cause of a call: the newest intent of its kind at that time. */
async function readCauses({ world }: Subject): Promise<(effect: ForgeEffect) => Cause | undefined> {
  const { db } = world.deps;
  const intents = await rows<IntentRow>(
    db,
    `select ${UNIX_MS("at")}, forge_id as "forgeId", kind, subject, project_id as "projectId",
            actor_id as "actorId", is_requested as "isRequested" from faults.intents order by at`,
  );
  const pulls = await rows<{ nodeId: string; forgeId: number; number: string }>(
    db,
    `select p.node_id as "nodeId", r.forge_id as "forgeId", p.number::text as number
       from pull_requests p join repositories r on r.id = p.repository_id`,
  );
  const comments = await rows<Cause & { readonly id: string }>(
    db,
    `select t.id, c.project_id as "projectId", t.actor_id as "actorId", false as "isRequested"
       from timeline_items t join cards c on c.id = t.card_id where t.type = 'comment' and t.login is null`,
  );
  return ({ kind, forgeId, subject, sentAt }) => {
    if (kind === "comment") return comments.find(({ id }) => id === subject);
    const pull = kind === "mark_ready" ? pulls.find(({ nodeId }) => nodeId === subject) : undefined;
    const wanted = { forgeId: pull?.forgeId ?? forgeId, subject: pull?.number ?? subject };
    return intents.findLast(
      (intent) =>
        intent.kind === kind &&
        intent.subject === wanted.subject &&
        (wanted.forgeId === null || intent.forgeId === wanted.forgeId) &&
        intent.at <= sentAt + TOLERANCE_MS / 10,
    );
  };
}
