import { isSecret, parseCredentialKey } from "../src/actions/credentials/credential-key.ts";
import { addMember } from "../src/actions/members/forge-accounts.ts";
import { addOperator } from "../src/actions/installations/operators.ts";
import { issueCredential } from "../src/actions/credentials/credentials.ts";
import { syncInstallations } from "../src/actions/installations/sync-installation.ts";
import type { RunningService } from "../src/service.ts";
import { connect, type Db } from "../src/store/db/connect.ts";
import { findCredential } from "../src/store/tenancy/credentials.ts";
import { listProjectsWithFlow } from "../src/store/cards/projects.ts";
import { listInstalledAccounts } from "../src/store/forge/installations.ts";
import { listProjectRepositories, setLinkedByDefault } from "../src/store/forge/repositories.ts";
import { listMembersWithLogin } from "../src/store/tenancy/users.ts";
import { listWorkspaces } from "../src/store/tenancy/workspaces.ts";
import type { RunningForge } from "./forge/start-forge.ts";
import { readSandboxFile, writeForgeFile, writeSandboxFile, type SandboxFile } from "./state-files.ts";

/**
 * Throws if the database has installations that the sandbox forge does not have, such as those of
 * GitHub: the sandbox would migrate it, run its jobs and remove its installations. Compares logins
 * too, because the ids of a GitHub Enterprise Server are as small as those of the sandbox forge.
 */
export async function requireSandboxDatabase(connectionString: string, forge: RunningForge): Promise<void> {
  const db = connect({ connectionString, max: 1, onError: () => undefined });
  try {
    const known = new Map(forge.context.state.accounts.all().map(({ id, login }) => [id, login]));
    const others = (await listInstalledAccounts(db)).filter(
      ({ forgeId, login }) => known.get(forgeId) !== login,
    );
    if (others.length === 0) return;
    const logins = others.map(({ login }) => login).join(", ");
    throw new Error(
      `DATABASE_URL names the database of another installation, with boards of ${logins}. ` +
        "The sandbox would disconnect them. Set DATABASE_URL to an empty database, or unset it to use the " +
        "embedded PostgreSQL. To run the service with GitHub, set APP_ID and the other settings of the App.",
    );
  } finally {
    await db.destroy();
  }
}

/** Creates a board and an API key at the first start, and writes the state files (0600). */
export async function prepareSandbox(
  service: RunningService,
  forge: RunningForge,
  dataDir: string,
): Promise<SandboxFile> {
  const { deps } = service;
  await syncInstallations(deps);
  const workspace = (await listWorkspaces(deps.db)).find((entry) => entry.organizationSlug === "acme");
  const [project] = workspace ? await listProjectsWithFlow(deps.db, workspace.id) : [];
  if (!workspace || !project)
    throw new Error(
      "The sandbox forge no longer has the organization acme. Delete the data directory to start again.",
    );
  const apiKey =
    (await existingKey(deps.db, dataDir, workspace.id)) ??
    (await createKey(service, workspace.id, project.id));
  await addPeople(service, workspace.id);
  const file: SandboxFile = {
    baseUrl: service.baseUrl,
    apiKey,
    workspaceId: workspace.id,
    projectId: project.id,
    forge: {
      apiUrl: forge.apiUrl,
      cloneUrl: forge.cloneUrl,
      users: forge.users.map(({ login, token }) => ({ login, token })),
      control: forge.controlEndpoint ?? undefined,
    },
  };
  await writeForgeFile(dataDir, forge);
  await writeSandboxFile(dataDir, file);
  return file;
}

/** The API key of an earlier start, if it is still valid for this board. */
async function existingKey(db: Db, dataDir: string, workspaceId: string): Promise<string | null> {
  const file = await readSandboxFile(dataDir);
  if (!file) return null;
  const key = parseCredentialKey(file.apiKey);
  const credential = key && (await findCredential(db, key.clientId));
  const isValid =
    key !== null &&
    credential !== null &&
    credential.version !== null &&
    isSecret(key.secret, credential.secretHashes) &&
    credential.boards.some((board) => board.workspaceId === workspaceId);
  return isValid ? file.apiKey : null;
}

/** Whoever opens the console for the first time can choose between these. */
const PEOPLE = [
  { login: "ada", role: "maintainer" },
  { login: "grace", role: "member" },
] as const;

/** Adds people to a board that has none yet. */
async function addPeople({ deps }: RunningService, workspaceId: string): Promise<void> {
  const members = await listMembersWithLogin(deps.db, workspaceId);
  if (members.some(({ login }) => login !== null)) return;
  for (const person of PEOPLE) await addMember(deps, { workspaceId, ...person });
  await addOperator(deps, PEOPLE[0].login);
}

async function createKey({ deps }: RunningService, workspaceId: string, projectId: string): Promise<string> {
  const repositories = await listProjectRepositories(deps.db, projectId);
  if (!repositories.some((repository) => repository.linkByDefault)) {
    const web = repositories.filter((repository) => repository.fullName === "acme/web");
    await setLinkedByDefault(
      deps.db,
      projectId,
      web.map((repository) => repository.id),
    );
  }
  const { apiKey } = await issueCredential(deps, {
    name: "sandbox",
    boards: [{ workspaceId, role: "maintainer" }],
    scopes: ["read", "write"],
    expiresAt: null,
  });
  return apiKey;
}
