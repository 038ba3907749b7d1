import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "../api.ts";
import { startWorld, type TestBoard, type TestWorld } from "../world.ts";
import { headOf, type ApiEvent } from "./event-stream.ts";

/** A request that a receiver got. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly event: ApiEvent;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Responds to later requests, by default with 204. */
  respondWith(handle: (response: ServerResponse, request: Received) => void): void;
  /** Resolves with the requests when there are as many. */
  receivedWhen(count: number): Promise<readonly Received[]>;
  /** How many requests were open at once. */
  mostAtOnce(): number;
  close(): Promise<void>;
}

const noContent = (response: ServerResponse): void => void response.writeHead(204).end();

/** Starts a server on localhost that receives outgoing webhooks. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let respond: (response: ServerResponse, request: Received) => void = noContent;
  let [open, most] = [0, 0];
  const server = createServer((request, response) => {
    most = Math.max(most, ++open);
    response.on("close", () => open--);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const one = { headers: request.headers, text, event: JSON.parse(text) as ApiEvent };
      received.push(one);
      respond(response, one);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    respondWith: (given) => {
      respond = given;
    },
    receivedWhen: (count) =>
      eventually(
        () => Promise.resolve(received),
        ({ length }) => length >= count,
      ),
    mostAtOnce: () => most,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export interface ApiWebhook {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly position: string;
  readonly paused: boolean;
  readonly pausedReason: string | null;
  readonly failingSince: string | null;
  readonly nextAttemptAt: string | null;
}

/** Creates a webhook that leads to the receiver. */
async function webhookTo(
  { url }: Pick<Receiver, "url">,
  { api }: TestBoard,
  fields: object = {},
): Promise<ApiWebhook> {
  const { status, body, text } = await api.post<ApiWebhook>("/v1/webhooks", { url, ...fields });
  if (status !== 201) throw new Error(`no webhook: ${text}`);
  return body;
}

/** A world that sends webhooks to this machine, and the receivers of the running test. */
export interface WebhookWorld extends TestWorld {
  receiver(): Promise<Receiver>;
  /** A receiver and a webhook that gets what happens from now on. */
  receiverOf(
    board: TestBoard,
    fields?: object,
  ): Promise<{ readonly receiver: Receiver; readonly webhook: ApiWebhook }>;
  closeReceivers(): Promise<void>;
}

/** `timeoutMs` is how long a receiver may take to respond. Waits are a tenth longer than the schedule. */
export async function startWebhookWorld(timeoutMs?: number): Promise<WebhookWorld> {
  const random = (): number => 0.5;
  const webhooks = { allowedAddresses: ["127.0.0.0/8"], random, ...(timeoutMs && { timeoutMs }) };
  const world = await startWorld({ webhooks });
  const receivers: Receiver[] = [];
  const receiver = async (): Promise<Receiver> => {
    const started = await startReceiver();
    receivers.push(started);
    return started;
  };
  return {
    ...world,
    receiver,
    receiverOf: async (board, fields = {}) => {
      // What was written before must not come after the webhook.
      await headOf(board);
      const started = await receiver();
      return { receiver: started, webhook: await webhookTo(started, board, fields) };
    },
    closeReceivers: async () => {
      await Promise.all(receivers.splice(0).map((started) => started.close()));
    },
  };
}

/** Reads a webhook until it is as wanted. */
export const webhookWhen = (
  { api }: TestBoard,
  { id }: Pick<ApiWebhook, "id">,
  isWanted: (webhook: ApiWebhook) => boolean,
): Promise<ApiWebhook> =>
  eventually(async () => {
    const { body } = await api.get<ApiWebhook[]>("/v1/webhooks");
    const found = body.find((webhook) => webhook.id === id);
    if (!found) throw new Error("the webhook is gone");
    return found;
  }, isWanted);

export const isFailing = ({ failingSince }: ApiWebhook): boolean => failingSince !== null;

export const isPaused = ({ paused }: ApiWebhook): boolean => paused;

/** Moves the next attempt to now, as if the wait was over. */
export const skipWait = ({ db }: TestBoard, { id }: Pick<ApiWebhook, "id">) =>
  db("webhooks").where({ id }).update({ next_attempt_at: db.fn.now() });

/** Seconds from the first failed attempt to the next one. */
export const waitOf = ({ failingSince, nextAttemptAt }: ApiWebhook): number =>
  (Date.parse(nextAttemptAt ?? "") - Date.parse(failingSince ?? "")) / 1_000;

export const seqsOf = (received: readonly Received[]): number[] => received.map(({ event }) => event.seq);
