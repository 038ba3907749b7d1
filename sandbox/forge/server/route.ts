import type { ForgeContext } from "../context.ts";
import type { ApiCall } from "../hooks.ts";
import type { Answer } from "./api-error.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import type { Fields } from "./body-fields.ts";
import type { Caller } from "./caller.ts";
import type { RateLimits } from "./rate-limits.ts";

/** A call that may be done: authenticated, within its limits, permitted. */
export interface RestCall {
  readonly forge: ForgeContext;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly fields: Fields;
  readonly call: ApiCall;
  readonly limits: RateLimits;
  /** The address asked for, with its query: what `Link` headers continue. */
  readonly url: URL;
}

/** A call about one repository. */
export interface RepositoryCall extends RestCall {
  readonly repository: RepositoryRow;
  /** Who acts: the person, or the App's bot. For reads without credentials it is GitHub's ghost, which nobody may act as. */
  readonly actor: AccountRow;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A permission of an installation, such as `contents:write`; of several, one is enough. */
export type Permission = `${string}:${"read" | "write"}`;

export interface Route {
  readonly method: Method;
  /** GitHub's own template, `/repos/{owner}/{repo}/git/ref/{ref}`. */
  readonly path: string;
  /**
   * Who may call: `app` with its JWT, `installation` with its token, `person`; `anyone` with or without credentials;
   * `repository` whoever reaches it, by the permission.
   */
  readonly access: "app" | "installation" | "person" | "signed-in" | "anyone" | "repository";
  readonly permissions: readonly Permission[];
  /** Only for people who administer the repository. */
  readonly isAdmin: boolean;
  /** Also allowed on an archived repository. */
  readonly worksArchived: boolean;
  readonly handle: (call: RepositoryCall) => Promise<Answer> | Answer;
}

/** A route outside any repository. */
export const route = (
  method: Method,
  path: string,
  access: Exclude<Route["access"], "repository">,
  handle: (call: RestCall) => Promise<Answer> | Answer,
): Route => ({ method, path, access, permissions: [], isAdmin: false, worksArchived: true, handle });

interface RepositoryRouteOptions {
  readonly isAdmin?: boolean;
  readonly worksArchived?: boolean;
}

/** A route below `/repos/{owner}/{repo}`; `permissions` are what an installation needs, any one of them. */
export const repositoryRoute = (
  method: Method,
  path: string,
  permissions: Permission | readonly Permission[],
  handle: (call: RepositoryCall) => Promise<Answer> | Answer,
  options: RepositoryRouteOptions = {},
): Route => ({
  method,
  path: `/repos/{owner}/{repo}${path}`,
  access: "repository",
  permissions: typeof permissions === "string" ? [permissions] : permissions,
  isAdmin: options.isAdmin ?? false,
  worksArchived: options.worksArchived ?? method === "GET",
  handle,
});

export const ok = (body: unknown, headers?: Readonly<Record<string, string>>): Answer =>
  headers === undefined ? { status: 200, body } : { status: 200, body, headers };
export const created = (body: unknown, location?: string): Answer =>
  location === undefined ? { status: 201, body } : { status: 201, body, headers: { location } };
export const noContent: Answer = { status: 204, body: null };
