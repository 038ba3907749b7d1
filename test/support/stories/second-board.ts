import { createWorkspace } from "../../../src/actions/boards/workspaces.ts";
import { issueCredential } from "../../../src/actions/credentials/credentials.ts";
import type { Deps } from "../../../src/actions/deps.ts";
import { makeApi, type Api } from "../api.ts";
import type { TestBoard } from "../world.ts";

/** Another board of the organization, with a maintainer's credential. */
export interface SecondBoard {
  readonly api: Api;
  readonly projectId: string;
}

export async function secondBoard(deps: Deps, { owner, api }: TestBoard): Promise<SecondBoard> {
  const made = await createWorkspace(deps, { organization: owner, name: "Second" });
  const { apiKey } = await issueCredential(deps, {
    name: "maintainer of the second board",
    boards: [{ workspaceId: made.id, role: "maintainer" }],
    scopes: ["read", "write"],
    expiresAt: null,
  });
  return { api: makeApi(api.baseUrl, apiKey), projectId: made.projectId };
}

/** Replaces the repositories of a project; throws if that is refused. */
export async function setRepositories(api: Api, projectId: string, ids: readonly string[]): Promise<void> {
  const repositories = ids.map((id) => ({ id, linkByDefault: false }));
  const { status, text } = await api.put(`/v1/projects/${projectId}/repositories`, { repositories });
  if (status !== 200) throw new Error(`the repositories of ${projectId} were not changed: ${text}`);
}
