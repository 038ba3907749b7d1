import { setTimeout as sleep } from "node:timers/promises";
import { eventually, type Api } from "../api.ts";
import type { TestBoard } from "../world.ts";

/** An event as the API and the stream send it. */
export interface ApiEvent {
  readonly seq: number;
  readonly id: string;
  readonly kind: string;
  readonly card: { readonly number: number; readonly title: string } | null;
  readonly actor: { readonly user: { readonly name: string } } | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventPage {
  readonly events: readonly ApiEvent[];
  readonly next: string;
  readonly head: string;
  readonly oldest: string;
}

/** One frame of a stream. */
export interface Frame {
  readonly id: string | null;
  readonly event: string | null;
  readonly data: string | null;
  readonly isComment: boolean;
}

export interface OpenStream {
  readonly frames: readonly Frame[];
  readonly status: number;
  readonly headers: Headers;
  /** Whether the service has ended the stream. */
  isEnded(): boolean;
  /** Resolves with the frames when they are as wanted, at most ten seconds later. */
  framesWhen(isWanted: (frames: readonly Frame[]) => boolean): Promise<readonly Frame[]>;
  close(): void;
}

/** Opens the event stream of a board and collects its frames. */
export async function openStream(
  { baseUrl, apiKey }: Pick<Api, "baseUrl" | "apiKey">,
  query = "",
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  const closing = new AbortController();
  const response = await fetch(`${baseUrl}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    signal: closing.signal,
  });
  const frames: Frame[] = [];
  let isEnded = false;
  const read = async (): Promise<void> => {
    let rest = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = `${rest}${chunk}`.split("\n\n");
      rest = parts.pop() ?? "";
      frames.push(...parts.map(frameOf));
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => (isEnded = true));
  return {
    frames,
    status: response.status,
    headers: response.headers,
    isEnded: () => isEnded,
    framesWhen: async (isWanted) => {
      for (let tries = 0; !isWanted(frames); tries++) {
        if (tries > 400) throw new Error(`the stream sent only ${JSON.stringify(frames, null, 2)}`);
        await sleep(25);
      }
      return frames;
    },
    close: () => closing.abort(),
  };
}

function frameOf(text: string): Frame {
  const field = (name: string): string | null =>
    text
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? null;
  return {
    id: field("id"),
    event: field("event"),
    data: field("data"),
    isComment: /^:/m.test(text),
  };
}

/** Reads the whole feed of a board, page by page. */
export async function readFeed(api: Api, query = ""): Promise<ApiEvent[]> {
  const events: ApiEvent[] = [];
  for (let after = "0"; ;) {
    const { body } = await api.get<EventPage>(`/v1/events?after=${after}&limit=7${query}`);
    events.push(...body.events);
    if (body.next === after) return events;
    after = body.next;
  }
}

/** The newest number of the feed after everything written so far is numbered. */
export async function headOf({ api, db, workspaceId }: TestBoard): Promise<number> {
  await eventually(
    () => db("events").where({ workspace_id: workspaceId, seq: null }).select("id"),
    ({ length }) => length === 0,
  );
  return Number((await api.get<EventPage>("/v1/events")).body.head);
}
