/**
 * Calls that GitHub forbids for lack of a permission. A token keeps the permissions that it was
 * created with, so a call may succeed with a newer one if an owner has granted more since.
 */
import { Kind, parse } from "graphql";
import { z } from "zod";
import { hasMorePermissions, lackedPermissions, type Permissions } from "./accepted-permissions.ts";
import type { CompleteResponse, MonotonicClock } from "./transport.ts";

/** The shortest time between two questions for the permissions of an installation. */
const ASK_EVERY_MS = 60_000;

interface Call {
  readonly kind: "rest" | "graphql";
  readonly isWrite: boolean;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * Whether GitHub forbids the call, and has changed nothing, so that it may be sent again.
 * `ofToken` reads the permissions of the token.
 */
export async function isForbidden(
  call: Call,
  response: CompleteResponse,
  ofToken: () => Promise<Permissions>,
): Promise<boolean> {
  const { status } = response;
  if (status === 403) return /not accessible by integration/i.test(await response.text());
  if (status === 404) {
    const headers = Object.fromEntries(response.headers);
    return lackedPermissions(headers, await ofToken()).length > 0;
  }
  if (status !== 200 || call.kind !== "graphql") return false;
  const body = forbiddingBody(await response.text());
  return body !== null && (!call.isWrite || changedNothing(String(call.parameters["query"]), body));
}

const bodyShape = z.looseObject({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z.array(
    z.looseObject({
      type: z.string().nullish(),
      path: z.array(z.union([z.string(), z.number()])).nullish(),
    }),
  ),
});
type Body = z.infer<typeof bodyShape>;

/** Fields that need a permission which an account need not grant: they are no reason to ask for a new token. */
const NEED_OPTIONAL_PERMISSION: ReadonlySet<string | number | undefined> = new Set(["workflowRun"]);

const isForbidding = ({ type, path }: Body["errors"][number]): boolean =>
  type === "FORBIDDEN" && !NEED_OPTIONAL_PERMISSION.has(path?.at(-1));

/** The body of a response that forbids at least a part of a GraphQL document, else null. */
function forbiddingBody(text: string): Body | null {
  // Most responses forbid nothing, and parsing a large one takes long.
  if (!text.includes('"FORBIDDEN"')) return null;
  const { data = null } = bodyShape.safeParse(jsonOf(text));
  return data?.errors.some(isForbidding) === true ? data : null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Whether GitHub has executed no field of a mutation. It executes the fields one after another, also
 * after a forbidden one. An error inside a field may mean that only the result cannot be read.
 */
function changedNothing(document: string, { data, errors }: Body): boolean {
  if (!errors.every(isForbidding) || Object.values(data ?? {}).some((value) => value !== null)) return false;
  const isBeforeExecution = !data && errors.every(({ path }) => !path?.length);
  const isOf = (field: string) => errors.some(({ path }) => path?.length === 1 && path[0] === field);
  return isBeforeExecution || fieldsOf(document).every(isOf);
}

/** The names of a mutation's fields in its response. */
const fieldsOf = (document: string): string[] =>
  parse(document)
    .definitions.flatMap((each) =>
      each.kind === Kind.OPERATION_DEFINITION ? each.selectionSet.selections : [],
    )
    .flatMap((each) => (each.kind === Kind.FIELD ? [each.alias?.value ?? each.name.value] : []));

export interface Token {
  readonly token: string;
  /** Empty if GitHub did not name them. */
  readonly permissions: Permissions;
}

/** The tokens of one installation. */
export interface InstallationTokens {
  current(): Promise<Token>;
  /** Creates a token. */
  renew(): Promise<string>;
  /** Reads from GitHub what the installation grants now. */
  granted(): Promise<Permissions>;
}

/**
 * Returns a function that gives a newer token than a refused one, which may have the permission that
 * the refused one lacks; null without a newer token, or if GitHub cannot be asked. It creates a token only
 * if the installation grants more than the token has, and then once.
 */
export function renewalOfForbidden(
  tokens: InstallationTokens,
  clock: MonotonicClock,
): (refusedAuthorization: string | null) => Promise<string | null> {
  let asked:
    | { readonly at: number; readonly about: string; readonly newer: Promise<string | null> }
    | undefined;
  /** The token that was created last, and what the installation granted then. */
  let created: { readonly token: string; readonly granted: string } | undefined;

  async function renewIfMoreIsGranted({ token, permissions }: Token): Promise<string | null> {
    const granted = await tokens.granted();
    if (!hasMorePermissions(granted, permissions)) return null;
    // Octokit's cache knows the level `admin` as `read`, so a new token may seem to lack it again.
    const shown = shownAs(granted);
    if (token === created?.token && shown === created.granted) return null;
    created = { token: await tokens.renew(), granted: shown };
    return created.token;
  }

  async function renew(refusedAuthorization: string | null): Promise<string | null> {
    const current = await tokens.current();
    const isRefused = (token: string): boolean => refusedAuthorization === `token ${token}`;
    if (!isRefused(current.token)) return current.token;
    // Concurrent calls use the same response.
    const { token: about } = current;
    if (asked?.about !== about || clock.now() - asked.at >= ASK_EVERY_MS)
      asked = { at: clock.now(), about, newer: renewIfMoreIsGranted(current) };
    const newer = await asked.newer;
    return newer === null || isRefused(newer) ? null : newer;
  }

  return (refusedAuthorization) => renew(refusedAuthorization).catch(() => null);
}

const shownAs = (permissions: Permissions): string =>
  Object.entries(permissions)
    .map((each) => each.join("="))
    .toSorted()
    .join(" ");
