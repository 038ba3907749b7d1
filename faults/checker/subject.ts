import { rows } from "../../src/store/db/connect.ts";
import type { Follower } from "../../test/support/stories/feed-followers.ts";
import type { TestBoard } from "../../test/support/world.ts";
import type { BoardKnowledge } from "../actors/board-knowledge.ts";
import type { History, RecordedCall } from "../history.ts";
import type { CheckedWorld } from "../world/world.ts";

/** A reader that follows a board's event feed during the whole run. */
export interface BoardFollower {
  readonly board: TestBoard;
  readonly follower: Follower;
}

/** What an invariant is checked on: the history of a run and the final state. */
export interface Subject {
  readonly world: CheckedWorld;
  readonly history: History;
  readonly known: readonly BoardKnowledge[];
  readonly followers: readonly BoardFollower[];
  /** The writes of the run, each with all its attempts. */
  readonly writes: readonly Write[];
}

/** One write under one key. */
export interface Write {
  readonly actor: string;
  readonly owner: string;
  readonly method: string;
  readonly path: string;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly key: string;
  readonly attempts: readonly RecordedCall[];
  /** The first successful response; null if none arrived. */
  readonly success: RecordedCall | null;
  readonly start: number;
  /** When it took effect at the latest; infinite if it is unknown whether it did. */
  readonly end: number;
}

/** Returns a message for each violation. */
export type Invariant = (subject: Subject) => Promise<readonly string[]> | readonly string[];

/** SQL for a time in Unix milliseconds, as `at`. */
export const UNIX_MS = (column: string): string => `extract(epoch from ${column})::float8 * 1000 as at`;

export const isSuccess = ({ status }: RecordedCall): boolean =>
  status !== null && status >= 200 && status < 300;

/** The values with each name, in their order. */
export function groupBy<T>(values: readonly T[], nameOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(nameOf(value));
    if (group) group.push(value);
    else groups.set(nameOf(value), [value]);
  }
  return groups;
}

/** Groups attempts by key. */
export function writesOf(calls: readonly RecordedCall[]): Write[] {
  const keyed = calls.filter(({ key }) => key !== null);
  const groups = groupBy(keyed, ({ actor, key }) => `${actor} ${key}`);
  return [...groups.values()].flatMap((unsorted) => {
    const attempts = unsorted.toSorted((a, b) => a.start - b.start);
    const [first] = attempts;
    if (!first) return [];
    const { actor, owner, method, path, sent, key } = first;
    const success = attempts.filter(isSuccess).toSorted((a, b) => a.end - b.end)[0] ?? null;
    const refused = attempts.every(({ status }) => status !== null && status >= 400 && status < 500);
    return [
      {
        actor,
        owner,
        method,
        path,
        sent: (sent ?? {}) as Readonly<Record<string, unknown>>,
        key: String(key),
        attempts,
        success,
        start: first.start,
        end: success?.end ?? (refused ? -Infinity : Infinity),
      },
    ];
  });
}

export const responseOf = (call: RecordedCall): unknown => JSON.parse(call.text);

export const cardNumberOf = ({ path }: Pick<Write, "path">): number =>
  Number(/^\/v1\/cards\/(\d+)/.exec(path)?.[1] ?? 0);

/** A write of a value that later writes replace. */
export interface RegisterWrite<Value> {
  readonly value: Value;
  readonly start: number;
  /** Infinite if it is unknown when, or whether, it took effect. */
  readonly end: number;
  readonly isAcknowledged: boolean;
}

/**
 * Whether a value may be the final one after these writes: no acknowledged write of another value
 * started after the value was certainly written.
 */
export function mayBeLast<Value>(value: Value, writes: readonly RegisterWrite<Value>[]): boolean {
  return writes.some(
    (candidate) =>
      candidate.value === value &&
      !writes.some((later) => later.isAcknowledged && later.value !== value && later.start > candidate.end),
  );
}

interface CardRow {
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly stageId: string;
}

/** The final cards of a board. */
export const cardsOf = ({ world }: Subject, workspaceId: string): Promise<CardRow[]> =>
  rows<CardRow>(
    world.deps.db,
    `select number, title, description, stage_id as "stageId" from cards
      where workspace_id = :workspaceId and deleted_at is null`,
    { workspaceId },
  );
