import { hash } from "node:crypto";
import { z } from "zod";
import { isUnavailable, NotSent } from "./failures.ts";
import { isForbidden } from "./forbidden.ts";
import type { InstallationOctokits, Octokits } from "./octokits.ts";
import { type CompleteResponse, type MonotonicClock, type Transport, TransportFailure } from "./transport.ts";

/** GitHub may refuse a new token for a moment. */
const NEW_TOKEN_SETTLES_MS = 1_000;

export type Account = number | "app" | "nobody" | Person;

/** A person, as whom the App calls with their token. As text, for limits and logs, it is a digest. */
export class Person {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  get token(): string {
    return this.#token;
  }

  toString(): string {
    return `person:${hash("sha256", this.#token).slice(0, 16)}`;
  }
}

export type CallParameters = Readonly<Record<string, unknown>>;

export interface GitHubCall {
  readonly account: Account;
  /** The names of the repositories, for the audit log; empty for none. */
  readonly about: string;
  /** By `MonotonicClock`. */
  readonly deadline: number;
  readonly kind: "rest" | "graphql";
  readonly isWrite: boolean;
  readonly method: string;
  /** A template, or the name of a GraphQL operation. */
  readonly route: string;
  readonly parameters: CallParameters;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly body: unknown;
  /** The response to octokit's request for a token, not to the call. */
  readonly isTokenRequest: boolean;
}

/** Shared with the caller, which needs it to interpret a failure. */
interface Progress {
  isSent: boolean;
  isAbandoned: boolean;
  /** Throws if the request may no longer be sent, for example after the call waited for a token. */
  readonly assertPermitted: () => Promise<void>;
}

/** GitHub refuses the token, and a new one. */
export class TokenRefused extends TransportFailure {}

export interface CallDeps {
  readonly octokits: Octokits;
  readonly transport: Transport;
  readonly clock: MonotonicClock;
}

/** Returns a response of any status. A call that gets no token before its deadline is not sent. */
export async function sendCall(deps: CallDeps, call: GitHubCall, progress: Progress): Promise<RawResponse> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const abandon = (): void => {
      progress.isAbandoned = true;
      reject(new TransportFailure("the deadline passed"));
    };
    timer = setTimeout(abandon, Math.max(0, call.deadline - deps.clock.now()));
  });
  try {
    return await Promise.race([throughOctokit(deps, call, progress).catch(responseOf), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

async function throughOctokit(deps: CallDeps, call: GitHubCall, progress: Progress): Promise<RawResponse> {
  const { octokits } = deps;
  const installation = typeof call.account === "number" ? await octokits.asInstallation(call.account) : null;
  const single = call.account === "app" ? octokits.asApp : octokits.asNobody;
  const octokit = installation === null ? await single() : installation.octokit;
  const options = {
    ...call.parameters,
    request: { fetch: trackedFetch(deps, call, progress, installation) },
  };
  if (call.kind === "graphql") {
    // Sends to /api/graphql where the base URL ends in /api/v3.
    const data: unknown = await octokit.graphql(options as unknown as { query: string });
    return { status: 200, headers: {}, body: { data }, isTokenRequest: false };
  }
  const { status, headers, data } = await octokit.request(`${call.method} ${call.route}`, options);
  return { status, headers, body: data, isTokenRequest: false };
}

/** Octokit's `fetch` for this call, but not for its request for a token. */
function trackedFetch(
  deps: CallDeps,
  call: GitHubCall,
  progress: Progress,
  installation: InstallationOctokits | null,
) {
  const account = String(call.account);
  const isRestRead = call.kind === "rest" && !call.isWrite;
  const rules = {
    isRepeatable: !call.isWrite,
    deadline: call.deadline,
    assertPermitted: progress.assertPermitted,
    about: { account, route: `${call.method} ${call.route}` },
    ...(isRestRead ? { readFor: account } : {}),
  };
  return async (url: string, init: RequestInit): Promise<CompleteResponse> => {
    if (progress.isAbandoned) throw new TransportFailure("the deadline passed");
    progress.isSent = true;
    const send = async (token: string | null): Promise<CompleteResponse> => {
      const headers = new Headers(init.headers);
      if (token !== null) headers.set("authorization", `token ${token}`);
      const response = await deps.transport.send(url, { ...init, headers }, rules);
      if (response.ok) installation?.recordAccepted(headers.get("authorization"));
      return response;
    };
    if (installation === null) return await send(call.account instanceof Person ? call.account.token : null);
    const token = await installation.renewForgottenToken();
    const refused = new Headers(token === null ? init.headers : { authorization: `token ${token}` });
    const response = await send(token);
    if (response.status === 401) return await withNewToken(deps.clock, installation, refused, send);
    if (!(await isForbidden(call, response, installation.permissions))) return response;
    const newer = await installation.renewForbiddenToken(refused.get("authorization"));
    return newer === null ? response : await send(newer);
  };
}

/** Replaces a refused token once. Octokit must not see the 401, or it would repeat the call. */
async function withNewToken(
  clock: MonotonicClock,
  installation: InstallationOctokits,
  refused: Headers,
  again: (token: string) => Promise<CompleteResponse>,
): Promise<CompleteResponse> {
  const token = await installation.renewToken(refused.get("authorization"));
  if (token === null) throw new TokenRefused("GitHub refuses the token");
  const response = await again(token);
  if (response.status !== 401) return response;
  await clock.sleep(NEW_TOKEN_SETTLES_MS);
  const last = await again(token);
  if (last.status === 401) throw new TokenRefused("GitHub refuses the token and a new one");
  return last;
}

const headers = z.record(z.string(), z.union([z.string(), z.number(), z.undefined()])).catch({});

/** Octokit throws responses that are no success; `graphql` throws another kind of error. */
const octokitError = z.looseObject({
  request: z.looseObject({ url: z.string() }).optional().catch(undefined),
  response: z.looseObject({ status: z.number(), headers, data: z.unknown() }),
});
const graphqlError = z.looseObject({
  name: z.literal("GraphqlResponseError"),
  headers,
  response: z.looseObject({ errors: z.unknown() }),
});

/**
 * The response in an error of octokit's or in one of its causes, such as a refused request for a
 * token. Otherwise throws what `fetch` threw, which octokit wraps more than once.
 */
function responseOf(error: unknown): RawResponse {
  const causes = [error];
  for (let at = error; at instanceof Error && at.cause !== undefined && causes.length < 5; at = at.cause) {
    causes.push(at.cause);
  }
  const response = causes.map(responseIn).find((each) => each !== null);
  if (response) return response;
  throw causes.find(isThrownByFetch) ?? error;
}

const isThrownByFetch = (error: unknown): boolean =>
  error instanceof TransportFailure || error instanceof NotSent || isUnavailable(error);

function responseIn(error: unknown): RawResponse | null {
  const refused = graphqlError.safeParse(error);
  if (refused.success) {
    return { status: 200, headers: refused.data.headers, body: refused.data.response, isTokenRequest: false };
  }
  const failed = octokitError.safeParse(error);
  if (!failed.success) return null;
  const { request, response } = failed.data;
  const isTokenRequest = request !== undefined && request.url.endsWith("/access_tokens");
  return { status: response.status, headers: response.headers, body: response.data, isTokenRequest };
}
