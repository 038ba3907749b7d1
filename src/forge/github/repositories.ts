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
import { type Answer, type GitHubCaller, type GitHubClient, parseAnswer } from "./calls/client.ts";
import { CallFailure, isInstallationRefused, orFallback } from "./calls/failures.ts";
import { refusalOf } from "./calls/refusals.ts";
import { name } from "./text-shapes.ts";

/** By id, as in GitHub's own redirects, because a name may belong to another repository by now. */
export const REPOSITORY = "/repositories/{repository_id}";

export const PAGE = 100;
/** 10,000 repositories; guards against a listing that never ends. */
const MAX_PAGES = 100;

const repositoryShape = z.looseObject({
  id: z.number(),
  full_name: name,
  default_branch: name,
});
const grantedShape = repositoryShape.extend({ node_id: z.string(), archived: z.boolean() });

export async function readRepositories(
  client: GitHubClient,
  installationId: number,
): Promise<ForgeResult<GrantedRepository[]>> {
  const shape = z.looseObject({ repositories: z.array(grantedShape) });
  const found = await allPages(async (page) => {
    const parameters = { per_page: PAGE, page };
    const answer = await client.as(installationId).read("GET /installation/repositories", parameters);
    return parseAnswer(shape, succeeded(answer)).repositories;
  });
  const value = found.map((repository) => ({
    ...toRepository(repository),
    nodeId: repository.node_id,
    isArchived: repository.archived,
  }));
  return { ok: true, value };
}

export const readRepository = (client: GitHubClient, ref: RepositoryRef): Promise<ForgeRepository | null> =>
  orFallback(repositoryOf(client.as(ref.installationId), ref), isInstallationRefused, null);

/** GitHub redirects to paths by id, but does not document them: after a 404, tries the name. */
async function repositoryOf(caller: GitHubCaller, ref: RepositoryRef): Promise<ForgeRepository | null> {
  const { forgeId, fullName } = ref;
  const answer = await caller.read(`GET ${REPOSITORY}`, { repository_id: forgeId });
  if (answer.status !== 404) return foundIn(answer, forgeId);
  const [owner, repo] = fullName.split("/");
  return foundIn(await caller.read("GET /repos/{owner}/{repo}", { owner, repo }), forgeId);
}

export async function repositoryById(caller: GitHubCaller, forgeId: number): Promise<ForgeRepository | null> {
  return foundIn(await caller.read(`GET ${REPOSITORY}`, { repository_id: forgeId }), forgeId);
}

/** Null also for another repository, which has the name by now. */
function foundIn(answer: Answer, forgeId: number): ForgeRepository | null {
  if ([403, 404, 410, 451].includes(answer.status)) return null;
  const found = toRepository(parseAnswer(repositoryShape, succeeded(answer)));
  return found.forgeId === forgeId ? found : null;
}

function toRepository(repository: z.infer<typeof repositoryShape>): ForgeRepository {
  return {
    forgeId: repository.id,
    fullName: repository.full_name,
    defaultBranch: repository.default_branch,
  };
}

export async function allPages<T>(read: (page: number) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const items = await read(page);
    found.push(...items);
    if (items.length < PAGE) break;
  }
  return found;
}

/** For reads that GitHub has no reason to refuse. */
export function succeeded(answer: Answer): Answer {
  if (answer.status < 300) return answer;
  const permissions = acceptedPermissions(answer).join(" or ");
  const why = `answered ${answer.status}${permissions && `, requires ${permissions}`}`;
  const cause = new CallFailure(why, answer.facts);
  throw readRefused(refusalOf(answer.status, answer.body), cause);
}

export function valueOf<T>(asked: ForgeResult<T>): T {
  if (asked.ok) return asked.value;
  throw readRefused(asked.refusal);
}

const readRefused = ({ message }: Refusal, cause?: CallFailure): ForgeUnavailable =>
  new ForgeUnavailable(`GitHub refused to answer: ${message}`, {
    retryAfter: 60,
    reason: "unusable_answer",
    cause,
  });
