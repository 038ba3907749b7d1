import { isDeepStrictEqual } from "node:util";
import type { Api, TimelineEvent } from "../../test/support/api.ts";
import type { ApiEvent, EventPage } from "../../test/support/stories/event-stream.ts";
import { seqOf } from "../../test/support/stories/feed-followers.ts";
import { CHANGE_KINDS } from "../../src/store/events/feed.ts";
import { cardsOf, type Invariant } from "./subject.ts";

const CHANGES: ReadonlySet<string> = new Set(CHANGE_KINDS);

interface TimelineComment {
  readonly type: "comment";
  readonly id: string;
  readonly author: unknown;
}

type TimelineItem = (TimelineEvent & { readonly type: "event" }) | TimelineComment;

/** The whole feed, also if it does not begin with 1. */
async function feedOf(api: Api): Promise<ApiEvent[]> {
  const events: ApiEvent[] = [];
  const { body } = await api.get<EventPage>("/v1/events");
  for (let after = String(Number(body.oldest) - 1); after !== body.head;) {
    const page = (await api.get<EventPage>(`/v1/events?after=${after}&limit=1000`)).body;
    events.push(...page.events);
    if (page.next === after) break;
    after = page.next;
  }
  return events;
}

/** What the feed must have for an item of a card's timeline. */
function eventOf(item: TimelineItem): unknown[] {
  if (item.type === "comment") return ["comment", item.author, item.id];
  if (item.kind === "created") return ["card_created", item.actor];
  return [item.kind, item.actor, item.data];
}

const commentOf = ({ data }: ApiEvent): unknown => data["commentId"];

/** What a card's timeline must have for an event of the feed, unless it is of another kind. */
function itemsOf(events: readonly ApiEvent[]): unknown[][] {
  const deleted = new Set(events.filter(({ kind }) => kind === "comment_deleted").map(commentOf));
  return events.flatMap((event) => {
    const { kind, actor, data } = event;
    if (kind === "comment") return deleted.has(commentOf(event)) ? [] : [[kind, actor, commentOf(event)]];
    if (kind === "card_created") return [[kind, actor]];
    return kind.startsWith("comment_") || CHANGES.has(kind) ? [] : [[kind, actor, data]];
  });
}

/** The elements of `some` that `others` does not have as often. */
function without(some: readonly unknown[], others: readonly unknown[]): unknown[] {
  const left = [...others];
  return some.filter((one) => {
    const at = left.findIndex((other) => isDeepStrictEqual(one, other));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

// Invariant: I13 The event feed has each timeline item once, and no other events
/** Kind, actor and data of each item of a timeline are in the feed exactly once. */
export const feedEqualsTimelines: Invariant = async (subject) => {
  const found: string[] = [];
  for (const { api, owner, workspaceId } of subject.world.boards) {
    const feed = await feedOf(api);
    for (const { number } of await cardsOf(subject, workspaceId)) {
      const shown = ((await api.timeline(number)) as unknown as TimelineItem[]).map(eventOf);
      const fed = itemsOf(feed.filter(({ card }) => card?.number === number));
      const tell = (items: readonly unknown[], what: string): void =>
        items.forEach((item) => found.push(`${owner} card ${number}: ${what} ${JSON.stringify(item)}`));
      tell(without(shown, fed), "the feed lacks");
      tell(without(fed, shown), "the timeline lacks");
    }
  }
  return found;
};

// Invariant: I14 Every reader of the event feed gets each event once, in order
/** Readers that follow the feed during the faults get its whole sequence. */
export const readersSkipNoEvent: Invariant = async ({ followers }) => {
  const found: string[] = [];
  for (const { board, follower } of followers) {
    const feed = await feedOf(board.api);
    await follower.until(feed.length);
    const who = `${board.owner} ${follower.name}`;
    if (follower.lost.length > 0) found.push(`${who} got ${follower.lost[0]}`);
    const texts = feed.map((event) => JSON.stringify(event));
    const at = follower.texts.findIndex((text, index) => text !== texts[index]);
    const wrong = texts.findIndex((text, index) => seqOf(text) !== index + 1);
    if (wrong >= 0) found.push(`${board.owner}: event ${wrong + 1} of the feed is ${texts[wrong]}`);
    if (at >= 0) found.push(`${who} got ${follower.texts[at]} instead of ${texts[at]}`);
    else if (follower.texts.length < texts.length)
      found.push(`${who} got ${follower.texts.length} of ${texts.length} events`);
  }
  return found;
};
