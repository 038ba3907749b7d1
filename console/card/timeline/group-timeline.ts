import type { Actor, TimelineComment, TimelineEvent, TimelineItem } from "../../api/schema.d.ts";

export interface EventGroup {
  readonly type: "events";
  readonly actor: Actor;
  readonly events: readonly TimelineEvent[];
}

/** Events of one actor that follow each other within this time are shown together, in milliseconds. */
const TOGETHER_MS = 10 * 60_000;

/** A move that follows the creation of a card within this time belongs to it, in milliseconds. */
const AT_ONCE_MS = 1_000;

/** Puts events of one actor that follow each other shortly into a group. Comments stand alone. */
export function groupTimeline(items: readonly TimelineItem[]): (EventGroup | TimelineComment)[] {
  const groups: (EventGroup | TimelineComment)[] = [];
  for (const item of items) {
    if (item.type === "comment") {
      groups.push(item);
      continue;
    }
    const last = groups.at(-1);
    if (last?.type === "events" && belongsTo(last, item)) {
      groups[groups.length - 1] = { ...last, events: [...last.events, item] };
    } else groups.push({ type: "events", actor: item.actor, events: [item] });
  }
  return groups;
}

function belongsTo({ actor, events }: EventGroup, event: TimelineEvent): boolean {
  const previous = events.at(-1);
  return (
    previous !== undefined &&
    actor.user.id === event.actor.user.id &&
    actor.login === event.actor.login &&
    Date.parse(event.at) - Date.parse(previous.at) < TOGETHER_MS
  );
}

/** The stage that a card was created in: where a move brought it at once. Null for other events. */
export function createdIn([created, move]: readonly TimelineEvent[]): string | null {
  if (created?.kind !== "created" || move?.kind !== "status_changed") return null;
  return Date.parse(move.at) - Date.parse(created.at) < AT_ONCE_MS ? move.data.to : null;
}
