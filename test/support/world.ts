import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueCredential } from "../../src/actions/credentials/credentials.ts";
import { findOwner } from "../../src/actions/members/forge-accounts.ts";
import { syncInstallation } from "../../src/actions/installations/sync-installation.ts";
import type { WebhookClientOptions } from "../../src/actions/webhooks/webhook-client.ts";
import type { WebhookSenderOptions } from "../../src/actions/webhooks/webhook-sender.ts";
import type { ConsoleSettings } from "../../src/http/console/console.ts";
import type { CallLimits } from "../../src/http/call-limiter.ts";
import type { ConnectionLimits } from "../../src/http/listen.ts";
import type { Role } from "../../src/flow/roles.ts";
import { createLog } from "../../src/log.ts";
import { startForge, type RunningForge } from "../../sandbox/forge/start-forge.ts";
import { consoleAccess } from "../../sandbox/start-sandbox.ts";
import { startService, type RunningService } from "../../src/service.ts";
import type { Scope } from "../../src/store/tenancy/credentials.ts";
import type { DatabaseTimeouts, Db } from "../../src/store/db/connect.ts";
import { listProjectRepositories, setLinkedByDefault } from "../../src/store/forge/repositories.ts";
import { listProjectsWithFlow } from "../../src/store/cards/projects.ts";
import { listWorkspaces } from "../../src/store/tenancy/workspaces.ts";
import { makeApi, type Api } from "./api.ts";
import { createTestDatabase, type TestDatabase } from "./database/database.ts";
import { cloneRepository, type Clone } from "./git.ts";
import { testPrivateKey } from "./forge/private-key.ts";
import { githubOptions } from "./forge/github-options.ts";

/** The token for `/metrics`. */
export const METRICS_TOKEN = "a-token-for-metrics";

/** A service, a forge and a database for one test file. Each test creates a board in it. */
export interface TestWorld {
  readonly forge: RunningForge;
  readonly service: RunningService;
  readonly databaseUrl: string;
  /** The log as text. */
  logged(): string;
  board(options?: BoardOptions): Promise<TestBoard>;
  /** The boards created so far. */
  readonly boards: readonly TestBoard[];
  /** Registers a service that `stop` ends before the world's own. */
  stopLater(service: Pick<RunningService, "stop">): void;
  stop(): Promise<void>;
}

export interface BoardOptions {
  /** Names of the repositories of the board's account; the first is linked by default. */
  readonly repositories?: readonly string[];
}

/** An organization with a board, a project on the default flow, and users. */
export interface TestBoard {
  readonly owner: string;
  readonly workspaceId: string;
  readonly projectId: string;
  /** The stages' ids by name, with the backlog. */
  readonly stages: Readonly<Record<"Backlog" | "To do" | "In progress" | "In review" | "Done", string>>;
  /** The repositories' ids by their short names. */
  readonly repositories: Readonly<Record<string, string>>;
  /** The test's database, for states that cannot be reached through the API. */
  readonly db: Db;
  /** The API with a maintainer's credential. */
  readonly api: Api;
  /** The API with another credential. */
  as(options: {
    role?: Role;
    scopes?: readonly Scope[];
    boards?: readonly TestBoard[];
    /** The login on GitHub of the credential's owner. */
    owner?: string;
  }): Promise<Api>;
  /** GitHub's API as a user. Returns status and body. */
  person(
    login: "ada" | "grace",
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  clone(login?: "ada" | "grace", repository?: string): Promise<Clone>;
}

export interface WorldOptions {
  /** Paces writes as for github.com. */
  readonly paceWrites?: boolean;
  readonly limits?: CallLimits;
  readonly connections?: Partial<ConnectionLimits>;
  readonly keepAliveMs?: number;
  readonly databaseTimeouts?: DatabaseTimeouts;
  readonly webhooks?: WebhookClientOptions & WebhookSenderOptions;
  readonly console?: Partial<ConsoleSettings>;
}

/** Resolves no name: tests use no network. */
export const noNames: NonNullable<WebhookClientOptions["resolveHost"]> = (host) => {
  if (isIP(host) !== 0) return Promise.resolve([{ address: host, family: isIP(host) }]);
  return Promise.reject(Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" }));
};

/** Starts a world; `stop` ends all of it. */
export async function startWorld({
  paceWrites = false,
  limits,
  connections,
  keepAliveMs,
  databaseTimeouts,
  webhooks,
  console = {},
}: WorldOptions = {}): Promise<TestWorld> {
  const database: TestDatabase = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "trunkline-forge-"));
  const forge = await startForge({
    dataDir,
    port: 0,
    webhookUrl: null,
    seed: false,
    app: { privateKey: testPrivateKey() },
  });
  const lines: string[] = [];
  const boards: TestBoard[] = [];
  const others: Pick<RunningService, "stop">[] = [];
  const log = createLog("debug", { write: (line) => void lines.push(line) });
  const service = await startService({
    databaseUrl: database.connectionString,
    host: "127.0.0.1",
    port: 0,
    github: githubOptions(forge, paceWrites),
    ...(limits && { limits }),
    ...(connections && { connections }),
    ...(keepAliveMs !== undefined && { keepAliveMs }),
    ...(databaseTimeouts && { databaseTimeouts }),
    webhooks: { resolveHost: noNames, ...webhooks },
    console: { publicUrl: null, idleMs: 3_600_000, ...consoleAccess(forge), ...console },
    followsTimetable: false,
    pollJobsMs: 200,
    metrics: { token: METRICS_TOKEN },
    log,
  });
  forge.setWebhookUrl(service.webhookUrl);
  return {
    forge,
    service,
    databaseUrl: database.connectionString,
    logged: () => lines.join(""),
    board: async (options) => {
      const board = await makeBoard(forge, service, options ?? {});
      boards.push(board);
      return board;
    },
    boards,
    stopLater: (other) => void others.push(other),
    stop: async () => {
      for (const other of others) await other.stop();
      await forge.waitUntilIdle(2_000);
      await service.stop();
      await forge.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A new board on a new account. */
export async function makeBoard(
  forge: RunningForge,
  { deps, baseUrl }: Pick<RunningService, "deps" | "baseUrl">,
  { repositories = ["web"] }: BoardOptions,
): Promise<TestBoard> {
  const owner = `org-${randomBytes(5).toString("hex")}`;
  forge.createOrganization(owner);
  for (const name of repositories) {
    await forge.createRepository(owner, name, { files: { "README.md": `# ${name}\n`, "app.txt": "one\n" } });
  }
  const installation = forge.installApp(owner, "all");
  const users = new Map(
    (["admin", "member"] as const).map((role, at) => {
      const name = at === 0 ? "ada" : "grace";
      return [
        name,
        forge.createUser(`${name}-${owner.slice(4)}`, { organizations: { [owner]: role } }),
      ] as const;
    }),
  );
  // Syncs only this one; all of them for each board would take quadratic time.
  await syncInstallation(deps, installation.id);
  const workspace = (await listWorkspaces(deps.db)).find((entry) => entry.organizationSlug === owner);
  if (!workspace) throw new Error("the installation created no board");
  const [project] = await listProjectsWithFlow(deps.db, workspace.id);
  if (!project) throw new Error("the installation created no project");
  const ids = Object.fromEntries(
    (await listProjectRepositories(deps.db, project.id)).map(({ id, fullName }) => [
      fullName.slice(owner.length + 1),
      id,
    ]),
  );
  const linked = ids[repositories[0] ?? ""];
  await setLinkedByDefault(deps.db, project.id, linked === undefined ? [] : [linked]);
  const as: TestBoard["as"] = async ({ role = "maintainer", scopes = ["read", "write"], boards, owner }) => {
    const owning = { workspaceId: workspace.id, login: owner ?? "" };
    const ownerId = owner === undefined ? null : (await findOwner(deps, owning)).id;
    const reached = boards?.map((board) => board.workspaceId) ?? [workspace.id];
    const { apiKey } = await issueCredential(deps, {
      name: `${role} agent`,
      boards: reached.map((workspaceId) => ({ workspaceId, role })),
      scopes,
      expiresAt: null,
      ownerId,
    });
    return makeApi(baseUrl, apiKey);
  };
  const userOf = (login: "ada" | "grace"): { login: string; token: string } => {
    const user = users.get(login);
    if (!user) throw new Error(`there is no user ${login}`);
    return user;
  };
  return {
    owner,
    workspaceId: workspace.id,
    projectId: project.id,
    repositories: ids,
    stages: Object.fromEntries(
      project.flow.stages.map((stage) => [stage.name, stage.id]),
    ) as TestBoard["stages"],
    db: deps.db,
    api: await as({}),
    as,
    person: async (login, method, path, body) => {
      const response = await fetch(`${forge.apiUrl}${path}`, {
        method,
        headers: { authorization: `token ${userOf(login).token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>,
      };
    },
    clone: (login = "ada", repository = repositories[0] ?? "web") => {
      const user = userOf(login);
      const url = forge.cloneUrl.replace("://", `://${user.login}:${user.token}@`);
      return cloneRepository(`${url}/${owner}/${repository}.git`, login);
    },
  };
}
