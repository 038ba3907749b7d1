import { z } from "zod";
import type { ForgeAccount, ForgeIdentity, ForgeInstallation } from "../values.ts";
import { account } from "./account-shapes.ts";
import { type GitHubResponse, type GitHubClient, parseResponse } from "./calls/client.ts";
import { Person } from "./calls/send-call.ts";
import { missingPermissions } from "./app.ts";
import { allPages, PAGE, succeeded } from "./repositories.ts";

const appShape = z.looseObject({ slug: z.string() });
const typeShape = z.looseObject({ type: z.string().nullish() });
const installationShape = z.looseObject({
  id: z.number(),
  account: z
    .looseObject({ id: z.number(), login: z.string().optional(), slug: z.string().optional() })
    .nullish(),
  suspended_at: z.string().nullish(),
  permissions: z.record(z.string(), z.string()).catch({}),
});

const readUser = (
  client: GitHubClient,
  username: string,
  installationId: number | null,
): Promise<GitHubResponse> =>
  client.as(installationId ?? "nobody").read("GET /users/{username}", { username });

/** The App's bot account. An App cannot read users itself, so this uses any installation. */
export async function readIdentity(client: GitHubClient): Promise<ForgeIdentity> {
  const { slug } = parseResponse(appShape, succeeded(await client.as("app").read("GET /app")));
  const installed = await readInstallations(client);
  const usable = installed.find((installation) => !installation.suspended);
  const response = await readUser(client, `${slug}[bot]`, usable?.installationId ?? null);
  const { login, forgeId } = parseResponse(account, succeeded(response));
  return { botLogin: login, botId: forgeId };
}

export async function readInstallations(client: GitHubClient): Promise<ForgeInstallation[]> {
  const found = await allPages(
    (page) => client.as("app").read("GET /app/installations", { per_page: PAGE, page }),
    (response) => parseResponse(z.array(installationShape), succeeded(response)),
  );
  return found.flatMap((installation) => toInstallation(installation) ?? []);
}

export async function readInstallation(
  client: GitHubClient,
  installationId: number,
): Promise<ForgeInstallation | null> {
  const parameters = { installation_id: installationId };
  const response = await client.as("app").read("GET /app/installations/{installation_id}", parameters);
  if (response.status === 404) return null;
  return toInstallation(parseResponse(installationShape, succeeded(response)));
}

/** Null for a deleted account. */
function toInstallation(installation: z.infer<typeof installationShape>): ForgeInstallation | null {
  const { id, account: owner, suspended_at, permissions } = installation;
  const login = owner?.login ?? owner?.slug;
  if (!owner || login === undefined) return null;
  return {
    installationId: id,
    account: { forgeId: owner.id, login },
    suspended: suspended_at !== undefined && suspended_at !== null,
    missingPermissions: missingPermissions(permissions),
  };
}

/** The account of a token; null if GitHub does not accept the token any more. */
export async function readTokenOwner(
  client: GitHubClient,
  accessToken: string,
): Promise<ForgeAccount | null> {
  const response = await client.as(new Person(accessToken)).read("GET /user");
  return response.status === 401 ? null : parseResponse(account, succeeded(response));
}

/** GitHub returns organizations for this route, too. */
export async function readAccount(
  client: GitHubClient,
  login: string,
  installationId: number | null,
): Promise<ForgeAccount | null> {
  const response = await readUser(client, login, installationId);
  if (response.status === 404) return null;
  const found = parseResponse(account, succeeded(response));
  return parseResponse(typeShape, response).type === "Organization" ? null : found;
}
