import type { RawAnswer } from "./answers.ts";
import type { ForgeClock } from "./clock.ts";
import type { InstallationOctokits, Octokits } from "./octokits.ts";
import { type Arrived, type Transport, TransportFailure } from "./transport.ts";

/** A new token may take a moment to be known everywhere at GitHub. */
const NEW_TOKEN_SETTLES_MS = 1_000;

export type Account = number | "app" | "nobody";
export type CallParameters = Readonly<Record<string, unknown>>;

export interface Call {
  readonly account: Account;
  /** On the clock. */
  readonly deadline: number;
  readonly kind: "rest" | "graphql";
  readonly isWrite: boolean;
  readonly method: string;
  /** A template, or the name of a GraphQL document. */
  readonly route: string;
  readonly parameters: CallParameters;
}

/** How far a call has come, for whoever has to judge its failure. */
export interface Progress {
  isSent: boolean;
  isAbandoned: boolean;
  /** Throws once the call may not be made any more: it may have to wait for a token, or for a repeat. */
  readonly mayAsk: () => Promise<void>;
}

/** GitHub keeps refusing our token. */
export class AccessLost extends TransportFailure {}

export interface Wire {
  readonly octokits: Octokits;
  readonly transport: Transport;
  readonly clock: ForgeClock;
}

/** Sends one call. One still waiting for its token when its time is up is never sent. */
export async function sendCall(wire: Wire, call: Call, progress: Progress): Promise<RawAnswer> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const giveUp = (): void => {
      progress.isAbandoned = true;
      reject(new TransportFailure("no turn came in time"));
    };
    timer = setTimeout(giveUp, Math.max(0, call.deadline - wire.clock.now()));
  });
  try {
    return await Promise.race([throughOctokit(wire, call, progress), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

async function throughOctokit(wire: Wire, call: Call, progress: Progress): Promise<RawAnswer> {
  const { octokits } = wire;
  const pair = typeof call.account === "number" ? await octokits.asInstallation(call.account) : null;
  const single = call.account === "app" ? octokits.asApp : octokits.asNobody;
  const octokit = pair === null ? await single() : pair.octokit;
  const options = { ...call.parameters, request: { fetch: trackedFetch(wire, call, progress, pair) } };
  if (call.kind === "graphql") {
    // Sends to /api/graphql where the base URL ends in /api/v3.
    const data: unknown = await octokit.graphql(options as unknown as { query: string });
    return { status: 200, headers: {}, body: { data }, isTokenRequest: false };
  }
  const { status, headers, data } = await octokit.request(`${call.method} ${call.route}`, options);
  return { status, headers, body: data, isTokenRequest: false };
}

type OctokitFetch = (url: string, init: RequestInit) => Promise<Arrived>;

/** What octokit calls instead of `fetch` for this one call; minting a token does not pass here. */
function trackedFetch(
  wire: Wire,
  call: Call,
  progress: Progress,
  pair: InstallationOctokits | null,
): OctokitFetch {
  const isRestRead = call.kind === "rest" && !call.isWrite;
  const rules = {
    isRepeatable: !call.isWrite,
    deadline: call.deadline,
    mayAsk: progress.mayAsk,
    about: { account: String(call.account), route: `${call.method} ${call.route}` },
    ...(isRestRead ? { readFor: String(call.account) } : {}),
  };
  return async (url, init) => {
    if (progress.isAbandoned) throw new TransportFailure("no turn came in time");
    progress.isSent = true;
    const send = async (headers: Headers): Promise<Arrived> => {
      const answer = await wire.transport.send(url, { ...init, headers }, rules);
      if (answer.ok) pair?.noteAccepted(headers.get("authorization"));
      return answer;
    };
    const answer = await send(new Headers(init.headers));
    if (answer.status !== 401 || pair === null) return answer;
    const again = (token: string): Promise<Arrived> => {
      const headers = new Headers(init.headers);
      headers.set("authorization", `token ${token}`);
      return send(headers);
    };
    return await withNewToken(wire.clock, pair, init, again);
  };
}

/** A refused token is replaced once. Octokit must not see the 401, or it would wait and repeat by itself. */
async function withNewToken(
  clock: ForgeClock,
  pair: InstallationOctokits,
  init: RequestInit,
  again: (token: string) => Promise<Arrived>,
): Promise<Arrived> {
  const token = await pair.renewToken(new Headers(init.headers).get("authorization"));
  if (token === null) throw new AccessLost("GitHub refuses our token");
  const answer = await again(token);
  if (answer.status !== 401) return answer;
  await clock.sleep(NEW_TOKEN_SETTLES_MS);
  const last = await again(token);
  if (last.status === 401) throw new AccessLost("GitHub refuses our token, and a new one too");
  return last;
}
