import type { Logger } from "pino";
import type { z } from "zod";
import { firstCharacters } from "../../../flow/text.ts";
import type { CallContext, ForgeWrite } from "../../forge.ts";
import { ForgeUnavailable, type UnavailableReason } from "../../values.ts";
import {
  type CallFacts,
  CallFailure,
  CredentialsRefused,
  GraphqlMissing,
  InstallationRefused,
  isWithoutResponse,
  NotSent,
  checkBeforeSending,
  QuestionTooLarge,
  UnknownOutcome,
} from "./failures.ts";
import { lackedPermissions } from "./accepted-permissions.ts";
import { allMessages, refusalMessage, refusalOf } from "./refusals.ts";
import {
  TokenRefused,
  type Account,
  type GitHubCall,
  type CallParameters,
  type RawResponse,
  Person,
  sendCall,
  type CallDeps,
} from "./send-call.ts";
import { isValidationTimeout } from "./validation-timeout.ts";
import { isQueryTooLarge } from "./query-limits.ts";
import { ResponseTooLarge, TransportFailure } from "./transport.ts";
import {
  createReducedDocuments,
  forbiddenOptionalFields,
  type ReducedDocuments,
  unknownFields,
  withoutOptionalFields,
} from "./unknown-fields.ts";
import { awaitTurn, type Pacing } from "./turns.ts";

/** The time for all calls of one `Caller`, so that the API responds within 30 s. */
const CALL_WITHIN_MS = 25_000;
const LOST_ACCESS_RETRY_S = 60;

/** A response with a status from 200 to 499, except for rate limits and refused credentials. */
export interface GitHubResponse extends Omit<RawResponse, "isTokenRequest"> {
  readonly facts: CallFacts;
}

/** Calls GitHub as one account until one deadline. */
export interface GitHubCaller {
  /** `route` is a template such as `GET /repositories/{repository_id}`; octokit escapes values. */
  read(route: string, parameters?: CallParameters): Promise<GitHubResponse>;
  write(route: string, parameters: CallParameters): Promise<GitHubResponse>;
  /** The response's body is `{ data, errors }`. Throws if the server lacks a field that is needed. */
  query(document: string, variables: CallParameters): Promise<GitHubResponse>;
  mutate(document: string, variables: CallParameters): Promise<GitHubResponse>;
}

export interface GitHubClient {
  /** `about` has the names of the repositories. */
  as(account: Account, withinMs?: number, about?: string): GitHubCaller;
  /** A client for calls with this context; what it does not name stays as it was. */
  with(context: CallContext): GitHubClient;
  /** Lets the next call as the installation use a new token. */
  forgetToken(installationId: number): Promise<void>;
}

interface ClientDeps extends CallDeps, Pacing {
  readonly context?: CallContext;
  readonly onRefused: OnRefused;
  readonly onUnavailable: OnUnavailable;
  readonly log: Logger;
}

/** Called before a call fails because GitHub refuses the installation or the credentials. */
export type OnRefused = (installationId: number, message: string) => Promise<void>;

/** Called before a call fails because GitHub did not respond; `retryAfter` in seconds. */
export type OnUnavailable = (
  installationId: number,
  reason: UnavailableReason,
  retryAfter: number,
) => Promise<void>;

export function createClient(
  deps: ClientDeps,
  known: ReducedDocuments = createReducedDocuments(deps.clock),
): GitHubClient {
  return {
    as(account, withinMs = CALL_WITHIN_MS, about = "") {
      const deadline = deps.clock.now() + withinMs;
      const rest =
        (isWrite: boolean) =>
        (template: string, parameters: CallParameters = {}) => {
          const [method = "GET", route = ""] = template.split(" ");
          return perform(deps, {
            account,
            about,
            deadline,
            kind: "rest",
            isWrite,
            method,
            route,
            parameters,
          });
        };
      const graphql = (isWrite: boolean) => (query: string, variables: CallParameters) => {
        const [, method = "query", route = ""] = /^\s*(query|mutation)\s+(\w+)/.exec(query) ?? [];
        const parameters = { query, ...variables };
        return perform(deps, {
          account,
          about,
          deadline,
          kind: "graphql",
          isWrite,
          method,
          route,
          parameters,
        });
      };
      const query = async (document: string, variables: CallParameters): Promise<GitHubResponse> => {
        for (let sent = known.get(String(account), document); ;) {
          const response = await graphql(false)(sent, variables);
          const unknown = unknownFields(response.body);
          const lacking = [...unknown, ...forbiddenOptionalFields(response.body)];
          if (lacking.length === 0) return response;
          const reduced = withoutOptionalFields(sent, lacking);
          if (reduced === null) throw serverTooOld(deps, response, unknown);
          known.set(String(account), document, reduced);
          sent = reduced;
        }
      };
      return { read: rest(false), write: rest(true), query, mutate: graphql(true) };
    },
    with: (context) => createClient({ ...deps, context: { ...deps.context, ...context } }, known),
    forgetToken: (installationId) => {
      known.forget(String(installationId));
      return deps.octokits.forgetToken(installationId);
    },
  };
}

/** The parsed body; throws `UnknownOutcome` for another shape. */
export function parseResponse<T>(schema: z.ZodType<T>, response: GitHubResponse): T {
  const parsed = schema.safeParse(response.body);
  if (parsed.success) return parsed.data;
  throw unexpectedResponse(response, parsed.error.issues[0]?.path.join("."));
}

/** `at` is the path of the part of the body that is wrong. */
export function unexpectedResponse(response: GitHubResponse, at = ""): UnknownOutcome {
  const cause = new CallFailure(
    `responded with ${response.status} in an unknown shape, at "${at}"`,
    response.facts,
  );
  return new UnknownOutcome("GitHub responded in an unexpected shape", {
    reason: "unusable_response",
    cause,
  });
}

/** Every call to GitHub. What the context asks for happens here. */
async function perform(deps: ClientDeps, call: GitHubCall): Promise<GitHubResponse> {
  const { beforeCall, onWrite } = deps.context ?? {};
  beforeCall?.();
  const record = (result: ForgeWrite["result"]): void => {
    if (call.isWrite) onWrite?.({ ...namesOf(call), result });
  };
  try {
    const response = await attempt(deps, call);
    record(isRefused(response) ? "refused" : "ok");
    return response;
  } catch (error) {
    record(error instanceof ForgeUnavailable ? "unavailable" : "error");
    const isAccessRefused = error instanceof InstallationRefused || error instanceof CredentialsRefused;
    if (isAccessRefused && typeof call.account === "number") {
      await deps.onRefused(call.account, error.message);
    }
    if (isOutage(error) && typeof call.account === "number") {
      await deps.onUnavailable(call.account, error.reason, error.retryAfter);
    }
    throw error;
  }
}

/** The repository in a route: by id, or by name. */
const OF_REPOSITORY = /^\/(repositories\/\{repository_id\}|repos\/\{owner\}\/\{repo\})/;

function namesOf({ kind, method, route, about, parameters }: GitHubCall): Pick<ForgeWrite, "method" | "ref"> {
  const number = parameters["pull_number"] ?? parameters["issue_number"];
  return {
    method: kind === "graphql" ? route : `${method} ${route.replace(OF_REPOSITORY, "")}`,
    ref: typeof number === "number" ? `${about}#${number}` : about,
  };
}

/** GraphQL reports a refusal with status 200. */
const isRefused = ({ status, body }: GitHubResponse): boolean =>
  status >= 400 || (Object(body) as { readonly errors?: unknown }).errors !== undefined;

/**
 * Whether GitHub did not respond. `limits` records limits. A response that cannot be used may be asked
 * for in another way, so `reportingUnusable` reports it.
 */
const isOutage = (error: unknown): error is ForgeUnavailable =>
  error instanceof ForgeUnavailable && error.reason === "outage" && error.cause instanceof CallFailure;

async function attempt(deps: ClientDeps, call: GitHubCall): Promise<GitHubResponse> {
  if (deps.context?.leavesReserve === true) deps.limits.takeOptional(String(call.account), call.kind);
  await awaitTurn(deps, call);
  const progress = { isSent: false, isAbandoned: false, assertPermitted: () => assertPermitted(deps, call) };
  const sentAt = deps.clock.now();
  const ended = await sendCall(deps, call, progress).catch((error: unknown) => ({ error }));
  if ("status" in ended && isReadQuery(call) && isQueryTooLarge(ended, deps.clock.now() - sentAt)) {
    throw queryTooLarge(deps, call, ended);
  }
  if ("status" in ended && ended.status < 500 && !isValidationTimeout(ended)) {
    return toResponse(deps, call, await withLackedPermission(deps, call, ended));
  }
  if ("error" in ended && ended.error instanceof NotSent) throw ended.error.cause;
  throw unavailable(deps, call, progress.isSent, ended);
}

/** The permission may have ended while the write waited for its turn or a token. */
async function assertPermitted({ context }: ClientDeps, { isWrite }: GitHubCall): Promise<void> {
  const { mayWrite } = context ?? {};
  if (!isWrite || mayWrite === undefined || (await checkBeforeSending(mayWrite()))) return;
  throw new ForgeUnavailable("The permission for this write ended before it was sent", { retryAfter: 1 });
}

/** GitHub hides with a 404 what the token lacks a permission for. The refusal then says so. */
async function withLackedPermission(
  { octokits }: ClientDeps,
  { account }: GitHubCall,
  raw: RawResponse,
): Promise<RawResponse> {
  if (raw.status !== 404 || raw.isTokenRequest || typeof account !== "number") return raw;
  const installation = await octokits.asInstallation(account);
  const lacked = lackedPermissions(raw.headers, await installation.permissions());
  if (lacked.length === 0) return raw;
  const message = `${refusalMessage(raw.body) || "Not Found"}. The App lacks the permission ${lacked.join(" and ")}.`;
  return { ...raw, status: 403, body: { message } };
}

const isReadQuery = ({ kind, isWrite }: GitHubCall): boolean => kind === "graphql" && !isWrite;

function queryTooLarge({ log }: ClientDeps, call: GitHubCall, raw: RawResponse): QuestionTooLarge {
  const cause = new CallFailure("is too large for GitHub", factsOf(call, raw));
  log.warn({ ...cause.facts, account: String(call.account) }, "a query is too large for GitHub");
  return new QuestionTooLarge("GitHub cannot read this much at once", { reason: "unusable_response", cause });
}

function serverTooOld(
  { log }: ClientDeps,
  { facts }: GitHubResponse,
  fields: readonly string[],
): ForgeUnavailable {
  const message = `The GitHub server is too old: its GraphQL API lacks ${fields.join(" and ")}`;
  log.error({ ...facts, fields }, "the GitHub server is too old");
  const cause = new CallFailure("needs fields that GitHub does not know", facts);
  return new ForgeUnavailable(message, { retryAfter: 60, reason: "unusable_response", cause });
}

/** Throws for refused credentials. */
function toResponse(deps: ClientDeps, call: GitHubCall, raw: RawResponse): GitHubResponse {
  const { status, headers, body } = raw;
  const account = String(call.account);
  const facts = factsOf(call, raw);
  const message = allMessages(body);
  const isRefused = status === 403 || status === 404;
  if (isRefused && (raw.isTokenRequest || /installation has been suspended/i.test(message))) {
    const details = { connection: "refused" };
    throw new InstallationRefused({ ...refusalOf(status, body), reason: "not_permitted", details });
  }
  // A person may revoke their token at any time.
  const isOurs = !(call.account instanceof Person);
  if ((status === 401 && isOurs) || raw.isTokenRequest) {
    deps.log.error({ ...facts, account }, "GitHub does not accept our credentials");
    throw noAccess(new CallFailure(`responded with ${status}`, facts));
  }
  if (call.kind === "graphql" && status === 404) {
    const cause = new CallFailure("responded with 404", facts);
    const options = { retryAfter: 60, reason: "unusable_response", cause } as const;
    throw new GraphqlMissing("GitHub has no GraphQL API at this address", options);
  }
  return { status, headers, body, facts };
}

/** The error for a call that got a 5xx or no response, or was not sent. */
function unavailable(
  deps: ClientDeps,
  call: GitHubCall,
  isSent: boolean,
  ended: RawResponse | { readonly error: unknown },
): Error {
  const [raw, error] = "status" in ended ? [ended, null] : [null, ended.error];
  if (isWithoutResponse(error)) return error;
  const why = raw === null ? nameOf(error) : `responded with ${raw.status}`;
  const cause = new CallFailure(why, factsOf(call, raw));
  deps.log.warn({ ...cause.facts, account: String(call.account), why }, "GitHub did not respond");
  if (error instanceof TokenRefused) return noAccess(cause);
  if (error instanceof ResponseTooLarge && !call.isWrite) {
    return new QuestionTooLarge("GitHub's response is too large", { reason: "unusable_response", cause });
  }
  const Kind = call.isWrite && isSent ? UnknownOutcome : ForgeUnavailable;
  return new Kind("GitHub did not respond", { cause });
}

/** Omits the message of an error with a request, which may contain secrets. */
function nameOf(error: unknown): string {
  if (error instanceof TransportFailure) return error.message;
  if (!(error instanceof Error)) return "failed";
  return "request" in error ? error.name : `${error.name}: ${firstCharacters(error.message, 200)}`;
}

function noAccess(cause: CallFailure): CredentialsRefused {
  return new CredentialsRefused("GitHub does not accept our credentials", {
    retryAfter: LOST_ACCESS_RETRY_S,
    cause,
  });
}

function factsOf(call: GitHubCall, raw: RawResponse | null): CallFacts {
  const requestId = raw?.headers["x-github-request-id"];
  return {
    method: call.method,
    route: call.route,
    status: raw?.status ?? null,
    installationId: typeof call.account === "number" ? call.account : null,
    requestId: requestId === undefined ? null : String(requestId),
  };
}
