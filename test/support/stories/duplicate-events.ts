import { isDeepStrictEqual } from "node:util";
import type { TimelineEvent } from "../api.ts";

const isSame = (one: TimelineEvent, other: TimelineEvent): boolean =>
  one.kind === other.kind &&
  one.at === other.at &&
  one.repositoryFullName === other.repositoryFullName &&
  one.actor.login === other.actor.login &&
  isDeepStrictEqual(one.data, other.data);

/** What happens to one branch or pull request once. */
const ONCE = ["branch_created", "pull_request_opened", "pull_request_merged", "backmerge_opened"];

/** A review as the forge has it. */
export interface SubmittedReview {
  readonly repositoryFullName: string;
  readonly prNumber: number;
  readonly login: string | null;
  readonly state: string;
  /** When it was submitted, ISO 8601. */
  readonly at: string;
}

/**
 * How often something that looks the same is told rightly. Somebody may review a pull request several times within one of the forge's seconds, and a
 * push dismiss several reviews at once; a timeline does not tell which review it is about.
 */
function timesDone(event: TimelineEvent, reviews: readonly SubmittedReview[]): number {
  const { kind, data, repositoryFullName } = event;
  if (kind !== "review_submitted") return 1;
  const isMeant = (review: SubmittedReview): boolean =>
    review.repositoryFullName === repositoryFullName &&
    review.prNumber === data["prNumber"] &&
    (data["state"] === "dismissed"
      ? review.state === "dismissed"
      : review.login === event.actor.login &&
        Date.parse(review.at) === Date.parse(event.at) &&
        [data["state"], "dismissed"].includes(review.state));
  return Math.max(1, reviews.filter(isMeant).length);
}

/** What a timeline tells more than once: I5. `botLogin` is our own account on the forge, whose words were said here; `reviews` are all that it tells of. */
export function duplicateEvents(
  timeline: readonly TimelineEvent[],
  botLogin: string,
  reviews: readonly SubmittedReview[],
): string[] {
  const events = timeline.filter(({ type }) => type === "event");
  const names = events
    .filter(({ kind }) => ONCE.includes(kind))
    .map(
      ({ kind, repositoryFullName, data }) =>
        `${kind} ${repositoryFullName} ${String(data["prNumber"] ?? data["branchName"])}`,
    );
  const others = events.filter(({ kind }) => !ONCE.includes(kind) && kind !== "checks_changed");
  return [
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `tells twice of ${name}`),
    ...others
      .filter(
        (event, at) =>
          others.slice(0, at).filter((each) => isSame(each, event)).length >= timesDone(event, reviews),
      )
      .map(({ kind, at, data }) => `tells twice of ${kind} at ${at}: ${JSON.stringify(data)}`),
    ...checksToldTwice(events),
    ...timeline
      .filter((item) => item.type === "comment" && item.author.login === botLogin)
      .map(() => "tells a mirror as a comment of its own"),
  ];
}

/** A branch's checks change from one state to another, unless the branch itself changed in between. */
function checksToldTwice(events: readonly TimelineEvent[]): string[] {
  const found: string[] = [];
  const last = new Map<string, TimelineEvent>();
  for (const event of events) {
    const branch = `${event.repositoryFullName} ${String(event.data["branchName"])}`;
    if (event.kind === "pushed" || event.kind === "branch_deleted") last.delete(branch);
    if (event.kind !== "checks_changed") continue;
    const before = last.get(branch);
    if (before?.data["sha"] === event.data["sha"] && before?.data["to"] === event.data["to"])
      found.push(`tells twice that the checks of ${branch} are ${String(event.data["to"])}`);
    last.set(branch, event);
  }
  return found;
}

interface Told {
  readonly type: string;
  readonly id: string;
}

/** The events of each timeline as the longest reading of this test file had them. */
const readings = new Map<string, readonly string[]>();

/** Holds a reading of a whole timeline against the ones before it: it only grows, at its end. A comment may be taken back. */
export function assertGrown(name: string, timeline: readonly Told[]): void {
  const now = timeline.filter(({ type }) => type === "event").map(({ id }) => id);
  const before = readings.get(name) ?? [];
  const [shorter, longer] = now.length < before.length ? [now, before] : [before, now];
  const at = shorter.findIndex((id, index) => longer[index] !== id);
  if (at >= 0) {
    throw new Error(`what was read at place ${at} of ${name} is ${JSON.stringify(timeline[at])} now`);
  }
  readings.set(name, longer);
}

/** For a test that takes back by itself what a timeline told. */
export const clearReadings = (): void => readings.clear();
