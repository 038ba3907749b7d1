import { z } from "zod";
import {
  type ForgeIdentity,
  type ForgeInstallation,
  type ForgeRepository,
  ForgeUnavailable,
  type GrantedRepository,
  type Ordered,
  type RepositoryRef,
} from "../forge.ts";
import { type Answer, type Caller, type GitHubClient, shaped } from "./client.ts";
import { CallFailure, InstallationRefused } from "./failures.ts";
import { missingPermissions } from "./permissions.ts";
import { refusalOf } from "./refusals.ts";

/**
 * Repositories are addressed by id, as GitHub's own redirects and `Link` headers do: a name may by now belong to another
 * repository, and then nothing of ours must reach it.
 */
export const REPOSITORY = "/repositories/{repository_id}";

const PAGE = 100;
/** 100 pages are 10,000 repositories; a listing that never ends is not followed for ever. */
const MAX_PAGES = 100;

const repositoryShape = z.looseObject({
  id: z.number(),
  full_name: z.string(),
  default_branch: z.string(),
});
const grantedShape = repositoryShape.extend({ node_id: z.string(), archived: z.boolean() });
const installationShape = z.looseObject({
  id: z.number(),
  account: z
    .looseObject({ id: z.number(), login: z.string().optional(), slug: z.string().optional() })
    .nullish(),
  suspended_at: z.string().nullish(),
  permissions: z.record(z.string(), z.string()).catch({}),
});
const appShape = z.looseObject({ slug: z.string() });
const userShape = z.looseObject({ id: z.number(), login: z.string() });

/** The App's bot account. Users cannot be asked for as the App, so any installation's token serves. */
export async function readIdentity(client: GitHubClient): Promise<ForgeIdentity> {
  const { slug: appSlug } = shaped(appShape, succeeded(await client.as("app").read("GET /app")));
  const installed = await readInstallations(client);
  const usable = installed.find((installation) => !installation.suspended);
  const caller = client.as(usable?.installationId ?? "nobody");
  const answer = await caller.read("GET /users/{username}", { username: `${appSlug}[bot]` });
  const bot = shaped(userShape, succeeded(answer));
  return { appSlug, botLogin: bot.login, botId: bot.id };
}

export async function readInstallations(client: GitHubClient): Promise<ForgeInstallation[]> {
  const found = await allPages(async (page) => {
    const answer = succeeded(await client.as("app").read("GET /app/installations", { per_page: PAGE, page }));
    return shaped(z.array(installationShape), answer);
  });
  return found.flatMap((installation) => toInstallation(installation) ?? []);
}

export async function readInstallation(
  client: GitHubClient,
  installationId: number,
): Promise<ForgeInstallation | null> {
  const answer = await client.as("app").read("GET /app/installations/{installation_id}", {
    installation_id: installationId,
  });
  if (answer.status === 404) return null;
  return toInstallation(shaped(installationShape, succeeded(answer)));
}

/** Null for an account that is gone. */
function toInstallation(installation: z.infer<typeof installationShape>): ForgeInstallation | null {
  const { id, account, suspended_at, permissions } = installation;
  const login = account?.login ?? account?.slug;
  if (!account || login === undefined) return null;
  return {
    installationId: id,
    account: { forgeId: account.id, login },
    suspended: suspended_at !== undefined && suspended_at !== null,
    missingPermissions: missingPermissions(permissions),
  };
}

export async function readRepositories(
  client: GitHubClient,
  installationId: number,
): Promise<Ordered<GrantedRepository[]>> {
  const shape = z.looseObject({ repositories: z.array(grantedShape) });
  try {
    const found = await allPages(async (page) => {
      const parameters = { per_page: PAGE, page };
      const answer = await client.as(installationId).read("GET /installation/repositories", parameters);
      return shaped(shape, succeeded(answer)).repositories;
    });
    return { ok: true, value: found.map(toGranted) };
  } catch (error) {
    if (error instanceof InstallationRefused) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

export async function readRepository(
  client: GitHubClient,
  ref: RepositoryRef,
): Promise<ForgeRepository | null> {
  try {
    return await repositoryById(client.as(ref.installationId), ref.forgeId);
  } catch (error) {
    if (error instanceof InstallationRefused) return null;
    throw error;
  }
}

/** The repository under the name it has now; null when it is gone or out of reach. */
export async function repositoryById(caller: Caller, forgeId: number): Promise<ForgeRepository | null> {
  const answer = await caller.read(`GET ${REPOSITORY}`, { repository_id: forgeId });
  if ([403, 404, 410, 451].includes(answer.status)) return null;
  const found = toRepository(shaped(repositoryShape, succeeded(answer)));
  return found.forgeId === forgeId ? found : null;
}

function toRepository(repository: z.infer<typeof repositoryShape>): ForgeRepository {
  return {
    forgeId: repository.id,
    fullName: repository.full_name,
    defaultBranch: repository.default_branch,
  };
}

const toGranted = (repository: z.infer<typeof grantedShape>): GrantedRepository => ({
  ...toRepository(repository),
  nodeId: repository.node_id,
  isArchived: repository.archived,
});

async function allPages<T>(read: (page: number) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const items = await read(page);
    found.push(...items);
    if (items.length < PAGE) break;
  }
  return found;
}

/** For reads that nothing can refuse but a fault of ours or of GitHub's. */
export function succeeded(answer: Answer): Answer {
  if (answer.status < 300) return answer;
  const { message } = refusalOf(answer.status, answer.body);
  const cause = new CallFailure(`answered ${answer.status}`, answer.facts);
  throw new ForgeUnavailable(`GitHub refuses to be asked: ${message}`, { retryAfter: 60, cause });
}
