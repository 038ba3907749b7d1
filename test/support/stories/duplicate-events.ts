import { isDeepStrictEqual } from "node:util";
import type { TimelineEvent } from "../api.ts";

const isSame = (one: TimelineEvent, other: TimelineEvent): boolean =>
  one.kind === other.kind &&
  one.at === other.at &&
  one.repositoryFullName === other.repositoryFullName &&
  one.actor.login === other.actor.login &&
  isDeepStrictEqual(one.data, other.data);

/** Events that a branch or pull request has once. */
const ONCE = ["branch_created", "pull_request_opened", "pull_request_merged", "backmerge_opened"];

/** A review on the forge. */
export interface SubmittedReview {
  readonly repositoryFullName: string;
  readonly prNumber: number;
  readonly login: string | null;
  readonly state: string;
  /** When it was submitted, ISO 8601. */
  readonly at: string;
}

/** Users may review several times within one second, and a push may dismiss several reviews. */
function permittedCount(event: TimelineEvent, reviews: readonly SubmittedReview[]): number {
  const { kind, data, repositoryFullName } = event;
  if (kind !== "review_submitted") return 1;
  const matches = (review: SubmittedReview): boolean =>
    review.repositoryFullName === repositoryFullName &&
    review.prNumber === data["prNumber"] &&
    (data["state"] === "dismissed"
      ? review.state === "dismissed"
      : review.login === event.actor.login &&
        Date.parse(review.at) === Date.parse(event.at) &&
        [data["state"], "dismissed"].includes(review.state));
  return Math.max(1, reviews.filter(matches).length);
}

/** Duplicate events of a timeline (I5). Comments of `botLogin` must not appear: they are mirrors. */
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
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `has two events ${name}`),
    ...others
      .filter(
        (event, at) =>
          others.slice(0, at).filter((each) => isSame(each, event)).length >= permittedCount(event, reviews),
      )
      .map(({ kind, at, data }) => `has two events ${kind} at ${at}: ${JSON.stringify(data)}`),
    ...repeatedChecks(events),
    ...timeline
      .filter((item) => item.type === "comment" && item.author.login === botLogin)
      .map(() => "has a mirrored comment twice"),
  ];
}

/** The checks of a branch change between states, unless the branch changed. */
function repeatedChecks(events: readonly TimelineEvent[]): string[] {
  const found: string[] = [];
  const last = new Map<string, TimelineEvent>();
  for (const event of events) {
    const branch = `${event.repositoryFullName} ${String(event.data["branchName"])}`;
    if (event.kind === "pushed" || event.kind === "branch_deleted") last.delete(branch);
    if (event.kind !== "checks_changed") continue;
    const before = last.get(branch);
    if (before?.data["sha"] === event.data["sha"] && before?.data["to"] === event.data["to"])
      found.push(`has two changes of the checks of ${branch} to ${String(event.data["to"])}`);
    last.set(branch, event);
  }
  return found;
}

interface Item {
  readonly type: string;
  readonly id: string;
}

/** The events of each timeline in the longest response of this test file. */
const readings = new Map<string, readonly string[]>();

/**
 * Compares a timeline with earlier ones: events keep their order and none disappears. One may be
 * added before the last one, because two that are recorded at the same time may be committed in the
 * other order. Comments may be deleted.
 */
export function checkAppendOnly(name: string, timeline: readonly Item[]): void {
  const now = timeline.filter(({ type }) => type === "event").map(({ id }) => id);
  const before = readings.get(name) ?? [];
  const [shorter, longer] = now.length < before.length ? [now, before] : [before, now];
  const known = new Set(shorter);
  const kept = longer.filter((id) => known.has(id));
  const at = shorter.findIndex((id, index) => kept[index] !== id);
  if (at >= 0) throw new Error(`event ${shorter[at]} of ${name} was removed or has another place`);
  readings.set(name, longer);
}

/** For tests that delete events themselves. */
export const forgetTimelines = (): void => readings.clear();
