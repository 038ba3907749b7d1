import { rows } from "../../src/store/db/connect.ts";
import type { BoardKnowledge } from "../actors/board-knowledge.ts";
import type { History, RecordedCall } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";

/** What an invariant is held against: the history of a run, and what the world has come to. */
export interface Subject {
  readonly world: FaultWorld;
  readonly history: History;
  readonly known: readonly BoardKnowledge[];
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
  /** Its first success; null where none was heard of. */
  readonly success: RecordedCall | null;
  readonly start: number;
  /** When its effect was there at the latest; infinite where nobody knows whether there is one. */
  readonly end: number;
}

/** A sentence for each thing that is not as it must be. */
export type Invariant = (subject: Subject) => Promise<readonly string[]> | readonly string[];

export const isSuccess = ({ status }: RecordedCall): boolean =>
  status !== null && status >= 200 && status < 300;

/** Puts the attempts under one key together. */
export function writesOf(calls: readonly RecordedCall[]): Write[] {
  const groups = new Map<string, RecordedCall[]>();
  for (const call of calls) {
    if (call.key === null) continue;
    const name = `${call.actor} ${call.key}`;
    groups.set(name, [...(groups.get(name) ?? []), call]);
  }
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

export const answerOf = (call: RecordedCall): unknown => JSON.parse(call.text);

/** The card a write to `/v1/cards/{number}…` is about. */
export const cardNumberOf = ({ path }: Pick<Write, "path">): number =>
  Number(/^\/v1\/cards\/(\d+)/.exec(path)?.[1] ?? 0);

/** A write of something that holds one value at a time. */
export interface RegisterWrite<Value> {
  readonly value: Value;
  readonly start: number;
  /** Infinite where nobody knows when it was done, or whether. */
  readonly end: number;
  readonly isAcknowledged: boolean;
}

/**
 * Whether a value may be what is there in the end, after these writes of one thing: no success that began after this value was certainly
 * written may have been lost to it.
 */
export function mayBeLast<Value>(value: Value, writes: readonly RegisterWrite<Value>[]): boolean {
  return writes.some(
    (candidate) =>
      candidate.value === value &&
      !writes.some((later) => later.isAcknowledged && later.value !== value && later.start > candidate.end),
  );
}

export interface CardRow {
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly stageId: string;
}

/** The cards of a board as they are in the end. */
export const cardsOf = ({ world }: Subject, workspaceId: string): Promise<CardRow[]> =>
  rows<CardRow>(
    world.deps.db,
    `select number, title, description, stage_id as "stageId" from cards
      where workspace_id = :workspaceId and deleted_at is null`,
    { workspaceId },
  );
