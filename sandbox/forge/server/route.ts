import type { ForgeContext } from "../context.ts";
import type { ApiCall } from "../hooks.ts";
import type { ForgeResponse } from "./api-error.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import type { Fields } from "./body-fields.ts";
import type { Caller } from "./caller.ts";
import type { RateLimits } from "./rate-limits.ts";

/** A call that is authenticated, permitted and within its rate limits. */
export interface RestCall {
  readonly forge: ForgeContext;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly fields: Fields;
  readonly apiCall: ApiCall;
  readonly limits: RateLimits;
  /** The requested URL with its query, for `Link` headers. */
  readonly url: URL;
}

export interface RepositoryCall extends RestCall {
  readonly repository: RepositoryRow;
  /** The user or the App's bot; for reads without credentials, GitHub's ghost. */
  readonly actor: AccountRow;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A permission of an installation, such as `contents:write`. */
export type Permission = `${string}:${"read" | "write"}`;

export interface Route {
  readonly method: Method;
  /** GitHub's own template, `/repos/{owner}/{repo}/git/ref/{ref}`. */
  readonly path: string;
  /** The callers the route accepts; `repository` checks their access to the repository. */
  readonly access: "app" | "installation" | "person" | "signed-in" | "anyone" | "repository";
  /** An installation needs one of them. */
  readonly permissions: readonly Permission[];
  /** Requires a user to have the role admin. */
  readonly isAdmin: boolean;
  /** Allowed on an archived repository. */
  readonly isAllowedOnArchived: boolean;
  readonly handle: (call: RepositoryCall) => Promise<ForgeResponse> | ForgeResponse;
}

/** A route outside any repository. */
export const route = (
  method: Method,
  path: string,
  access: Exclude<Route["access"], "repository">,
  handle: (call: RestCall) => Promise<ForgeResponse> | ForgeResponse,
): Route => ({ method, path, access, permissions: [], isAdmin: false, isAllowedOnArchived: true, handle });

interface RepositoryRouteOptions {
  readonly isAdmin?: boolean;
  readonly isAllowedOnArchived?: boolean;
}

/** A route below `/repos/{owner}/{repo}`. */
export const repositoryRoute = (
  method: Method,
  path: string,
  permissions: Permission | readonly Permission[],
  handle: (call: RepositoryCall) => Promise<ForgeResponse> | ForgeResponse,
  options: RepositoryRouteOptions = {},
): Route => ({
  method,
  path: `/repos/{owner}/{repo}${path}`,
  access: "repository",
  permissions: typeof permissions === "string" ? [permissions] : permissions,
  isAdmin: options.isAdmin ?? false,
  isAllowedOnArchived: options.isAllowedOnArchived ?? method === "GET",
  handle,
});

export const ok = (body: unknown, headers?: Readonly<Record<string, string>>): ForgeResponse =>
  headers === undefined ? { status: 200, body } : { status: 200, body, headers };
export const created = (body: unknown, location?: string): ForgeResponse =>
  location === undefined ? { status: 201, body } : { status: 201, body, headers: { location } };
export const noContent: ForgeResponse = { status: 204, body: null };
