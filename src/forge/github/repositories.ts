import { z } from "zod";
import type { Refusal } from "../../flow/refusal.ts";
import {
  type ForgeRepository,
  ForgeUnavailable,
  type GrantedRepository,
  type ForgeResult,
  type RepositoryRef,
} from "../values.ts";
import { acceptedPermissions } from "./calls/accepted-permissions.ts";
import { type GitHubResponse, type GitHubCaller, type GitHubClient, parseResponse } from "./calls/client.ts";
import { CallFailure, isInstallationRefusedError, orFallback } from "./calls/failures.ts";
import { refusalOf } from "./calls/refusals.ts";
import type { CallParameters } from "./calls/send-call.ts";
import { name } from "./text-shapes.ts";

export const PAGE = 100;
/** Guards against a list that never ends. */
const MAX_PAGES = 1_000;

export type RepositoryName = Pick<RepositoryRef, "forgeId" | "fullName">;

/** The REST calls of one repository. */
export interface RepositoryCalls {
  /** `path` is a template below the repository, such as `/pulls/{pull_number}`. */
  readonly read: (path: string, parameters?: CallParameters) => Promise<GitHubResponse>;
  /** `route` is relative to the repository, such as `POST /pulls`. */
  readonly write: (route: string, parameters: CallParameters) => Promise<GitHubResponse>;
}

const BY_ID = "/repositories/{repository_id}";
const BY_NAME = "/repos/{owner}/{repo}";

/**
 * Calls a repository by id, because its name may belong to another one by now. GitHub's redirects
 * lead to paths by id, but its documentation lacks them. If GitHub does not find the repository by
 * id, but by name, the call is repeated by name.
 */
export function callsById(caller: GitHubCaller, ref: RepositoryName): RepositoryCalls {
  const byId = { repository_id: ref.forgeId };
  const call = async (
    kind: "read" | "write",
    method: string,
    path: string,
    parameters: CallParameters,
  ): Promise<GitHubResponse> => {
    const response = await caller[kind](`${method} ${BY_ID}${path}`, { ...byId, ...parameters });
    if (response.status !== 404) return response;
    if ((await caller.read(`GET ${BY_ID}`, byId)).status !== 404) return response;
    const found = await findByName(caller, ref);
    if (found === null) return response;
    return await caller[kind](`${method} ${BY_NAME}${path}`, { ...namesIn(found.fullName), ...parameters });
  };
  return {
    read: (path, parameters = {}) => call("read", "GET", path, parameters),
    write(route, parameters) {
      const [method = "", path = ""] = route.split(" ");
      return call("write", method, path, parameters);
    },
  };
}

/** The repository itself, read in the same two ways. */
export async function repositoryOf(
  caller: GitHubCaller,
  ref: RepositoryName,
): Promise<ForgeRepository | null> {
  const response = await caller.read(`GET ${BY_ID}`, { repository_id: ref.forgeId });
  return response.status === 404 ? await findByName(caller, ref) : foundIn(response, ref.forgeId);
}

/** Null if the name leads to no repository or to another one. */
const findByName = async (
  caller: GitHubCaller,
  { forgeId, fullName }: RepositoryName,
): Promise<ForgeRepository | null> =>
  foundIn(await caller.read(`GET ${BY_NAME}`, namesIn(fullName)), forgeId);

function namesIn(fullName: string): { readonly owner: string; readonly repo: string } {
  const [owner = "", repo = ""] = fullName.split("/");
  return { owner, repo };
}

const repositoryShape = z.looseObject({
  id: z.number(),
  full_name: name,
  default_branch: name,
});
const grantedShape = repositoryShape.extend({
  node_id: z.string(),
  archived: z.boolean(),
  html_url: z.url({ protocol: /^https?$/ }),
});

export async function readRepositories(
  client: GitHubClient,
  installationId: number,
): Promise<ForgeResult<GrantedRepository[]>> {
  const shape = z.looseObject({ repositories: z.array(grantedShape) });
  const found = await allPages(
    (page) => client.as(installationId).read("GET /installation/repositories", { per_page: PAGE, page }),
    (response) => parseResponse(shape, succeeded(response)).repositories,
  );
  const value = found.map((repository) => ({
    ...toRepository(repository),
    nodeId: repository.node_id,
    isArchived: repository.archived,
    forgeUrl: new URL(repository.html_url).origin,
  }));
  return { ok: true, value };
}

export const readRepository = (client: GitHubClient, ref: RepositoryRef): Promise<ForgeRepository | null> =>
  orFallback(repositoryOf(client.as(ref.installationId), ref), isInstallationRefusedError, null);

function foundIn(response: GitHubResponse, forgeId: number): ForgeRepository | null {
  if ([403, 404, 410, 451].includes(response.status)) return null;
  const found = toRepository(parseResponse(repositoryShape, succeeded(response)));
  return found.forgeId === forgeId ? found : null;
}

function toRepository(repository: z.infer<typeof repositoryShape>): ForgeRepository {
  return {
    forgeId: repository.id,
    fullName: repository.full_name,
    defaultBranch: repository.default_branch,
  };
}

/**
 * Reads a list to its end, or until `isEnough`. GitHub links to the next page; a full page may have
 * one without a link, because a confirmed (304) page keeps its old headers. Throws
 * `ForgeUnavailable` for a list that does not end.
 */
export async function allPages<T>(
  read: (page: number) => Promise<GitHubResponse>,
  parse: (response: GitHubResponse) => readonly T[],
  isEnough: (items: readonly T[]) => boolean = () => false,
): Promise<T[]> {
  const found: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const response = await read(page);
    const items = parse(response);
    found.push(...items);
    if ((items.length < PAGE && !hasNextPage(response)) || isEnough(items)) return found;
  }
  throw new ForgeUnavailable(`GitHub has more than ${MAX_PAGES} pages of a list`, {
    retryAfter: 60,
    reason: "unusable_response",
  });
}

const hasNextPage = ({ headers }: GitHubResponse): boolean =>
  /rel="next"/.test(String(headers["link"] ?? ""));

/** For reads that GitHub has no reason to refuse. */
export function succeeded(response: GitHubResponse): GitHubResponse {
  if (response.status < 300) return response;
  const permissions = acceptedPermissions(response).join(" or ");
  const why = `responded with ${response.status}${permissions && `, requires ${permissions}`}`;
  const cause = new CallFailure(why, response.facts);
  throw readRefused(refusalOf(response.status, response.body), cause);
}

export function valueOf<T>(asked: ForgeResult<T>): T {
  if (asked.ok) return asked.value;
  throw readRefused(asked.refusal);
}

const readRefused = ({ message }: Refusal, cause?: CallFailure): ForgeUnavailable =>
  new ForgeUnavailable(`GitHub refused the request: ${message}`, {
    retryAfter: 60,
    reason: "unusable_response",
    cause,
  });
