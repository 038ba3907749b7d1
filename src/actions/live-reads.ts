import { readCardStamp } from "../store/cards/card-stamp.ts";
import type { Db } from "../store/db/connect.ts";

/** How long an answer of GitHub about a card is served again, in milliseconds. */
const FRESH_MS = 3_000;
/** The same for a failure: a retry may ask again sooner. */
const FAILED_MS = 1_000;

interface Answer {
  /** The card's stamp, read before GitHub was asked. */
  readonly stamp: string;
  readonly result: Promise<unknown>;
  /** Infinity until GitHub responds. */
  freshUntil: number;
}

/** Recent responses of GitHub to GET routes, by card and question, in one process. */
export interface LiveReads {
  /** Reuses a pending or fresh response if the card has the same stamp. Otherwise calls `ask`. */
  ask<T>(key: string, stamp: string, ask: () => Promise<T>): Promise<T>;
}

export function createLiveReads(now: () => number = () => performance.now()): LiveReads {
  const answers = new Map<string, Answer>();

  function dropOld(): void {
    for (const [key, { freshUntil }] of answers) if (freshUntil < now()) answers.delete(key);
  }

  return {
    ask: <T>(key: string, stamp: string, ask: () => Promise<T>) => {
      const known = answers.get(key);
      if (known?.stamp === stamp && known.freshUntil >= now()) return known.result as Promise<T>;
      dropOld();
      const result = ask();
      const answer: Answer = { stamp, result, freshUntil: Infinity };
      answers.set(key, answer);
      result.then(
        (value) => (answer.freshUntil = now() + (isComplete(value) ? FRESH_MS : FAILED_MS)),
        () => (answer.freshUntil = now() + FAILED_MS),
      );
      return result;
    },
  };
}

/** False if GitHub did not respond about one of several repositories. */
const isComplete = (value: unknown): boolean =>
  !Array.isArray(value) || value.every((each: { readonly ok?: boolean }) => each.ok !== false);

/** Asks once what concurrent and repeated reads of a card ask. `asked` is the question to GitHub. */
export type ShareReads = <T>(name: string, asked: unknown, ask: () => Promise<T>) => Promise<T>;

/** For the GET routes about a card. */
export async function readsAbout(
  {
    db,
    liveReads,
    leavePlace,
  }: { readonly db: Db; readonly liveReads: LiveReads; readonly leavePlace: () => void },
  { id: cardId }: { readonly id: string },
): Promise<ShareReads> {
  const stamp = await readCardStamp(db, cardId);
  return (name, asked, ask) => {
    // Who waits for the answer to another call also waits for GitHub.
    leavePlace();
    return liveReads.ask(`${cardId} ${name} ${JSON.stringify(asked)}`, stamp, ask);
  };
}
