import { setTimeout as sleep } from "node:timers/promises";
import type { ApiEvent, EventPage } from "./event-stream.ts";

/** One address to follow a feed at; the next is tried when one does not respond. */
export interface FeedPlace {
  readonly baseUrls: readonly string[];
  readonly apiKey: string;
}

/** A reader that follows a feed from its beginning and survives the processes it reads from. */
export interface Follower {
  readonly name: string;
  /** The events as they were sent, in the order of their arrival. */
  readonly texts: readonly string[];
  /** The responses that no reader may get: a 410, or a `reset`. */
  readonly lost: readonly string[];
  /** Resolves when it has got so many events, or after some seconds. */
  until(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Longer than a service takes to respond to a poll. */
const TIMEOUT_MS = 10_000;
const RETRY_MS = 50;
const UNTIL_MS = 10_000;

type Read = (baseUrl: string, after: string, signal: AbortSignal) => Promise<void>;

/** Reads again and again, from another address after each failure, until `stop`. */
function follow(
  name: string,
  { baseUrls }: FeedPlace,
  found: Pick<Follower, "texts" | "lost">,
  position: () => string,
  read: Read,
): Follower {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const baseUrl = baseUrls[turn % baseUrls.length] ?? "";
      await read(baseUrl, position(), stopping.signal).catch(() => sleep(RETRY_MS));
    }
  };
  const running = run();
  return {
    name,
    ...found,
    until: async (count) => {
      const late = Date.now() + UNTIL_MS;
      while (found.texts.length < count && Date.now() < late) await sleep(RETRY_MS);
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Follows a feed with `GET /v1/events`. */
export function followByPolling(place: FeedPlace): Follower {
  const [texts, lost]: [string[], string[]] = [[], []];
  let next = "0";
  return follow(
    "poller",
    place,
    { texts, lost },
    () => next,
    async (baseUrl, after, signal) => {
      const response = await fetch(`${baseUrl}/v1/events?after=${after}&wait=1&limit=50`, {
        headers: { authorization: `Bearer ${place.apiKey}` },
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      const text = await response.text();
      if (response.status === 410) {
        lost.push(text);
        next = (JSON.parse(text) as EventPage).head;
        return;
      }
      if (!response.ok) throw new Error(text);
      const page = JSON.parse(text) as EventPage;
      texts.push(...page.events.map((event) => JSON.stringify(event)));
      next = page.next;
    },
  );
}

/** Follows a feed with `GET /v1/events/stream`. */
export function followByStream(place: FeedPlace): Follower {
  const [texts, lost]: [string[], string[]] = [[], []];
  let lastId = "0";
  return follow(
    "stream",
    place,
    { texts, lost },
    () => lastId,
    async (baseUrl, after, signal) => {
      const response = await fetch(`${baseUrl}/v1/events/stream`, {
        headers: { authorization: `Bearer ${place.apiKey}`, "last-event-id": after },
        signal,
      });
      if (!response.ok) throw new Error(await response.text());
      let rest = "";
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const frames = `${rest}${chunk}`.split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1];
          lastId = field("id") ?? lastId;
          const data = field("data");
          if (data === undefined) continue;
          (field("event") === "reset" ? lost : texts).push(data);
        }
      }
    },
  );
}

export const seqOf = (text: string): number => (JSON.parse(text) as ApiEvent).seq;
