import { isDeepStrictEqual } from "node:util";
import type { TimelineEvent } from "./api.ts";

const isSame = (one: TimelineEvent, other: TimelineEvent): boolean =>
  one.kind === other.kind &&
  one.at === other.at &&
  one.repositoryFullName === other.repositoryFullName &&
  one.actor.login === other.actor.login &&
  isDeepStrictEqual(one.data, other.data);

/** What happens to one branch or pull request once. */
const ONCE = ["branch_created", "pull_request_opened", "pull_request_merged", "backmerge_opened"];

/** What may happen several times within one of the forge's seconds, without a difference that is told. */
const mayRepeat = ({ kind, data }: TimelineEvent): boolean =>
  kind === "checks_changed" || (kind === "review_submitted" && data["state"] === "commented");

/** What a timeline tells more than once: I5. `botLogin` is our own account on the forge, whose words were said here. */
export function toldTwice(timeline: readonly TimelineEvent[], botLogin: string): string[] {
  const events = timeline.filter(({ type }) => type === "event");
  const names = events
    .filter(({ kind }) => ONCE.includes(kind))
    .map(
      ({ kind, repositoryFullName, data }) =>
        `${kind} ${repositoryFullName} ${String(data["prNumber"] ?? data["branchName"])}`,
    );
  const others = events.filter((event) => !ONCE.includes(event.kind) && !mayRepeat(event));
  return [
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `tells twice of ${name}`),
    ...others
      .filter((event, at) => others.findIndex((each) => isSame(each, event)) !== at)
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
export function holdGrown(name: string, timeline: readonly Told[]): void {
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
export const forgetReadings = (): void => readings.clear();
