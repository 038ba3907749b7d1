import { execFileSync } from "node:child_process";
import { pino } from "pino";
import type { Forge } from "../../../src/forge/forge.ts";
import type { ForgeResult, RepositoryRef } from "../../../src/forge/values.ts";
import type { PickOrder, PickResult } from "../../../src/forge/releasing.ts";
import { createGitHubForge } from "../../../src/forge/github/connect-github.ts";
import { SHORT_PAUSES } from "./github-options.ts";
import { startTestForge, type TestForge } from "./sandbox-forge.ts";

/** The adapter and a sandbox forge with real Git repositories. */
export interface Adapter {
  readonly world: TestForge;
  readonly forge: Forge;
  readonly newRepository: (files: Readonly<Record<string, string>>) => Promise<TestRepository>;
}

export interface TestRepository {
  readonly forgeRef: RepositoryRef;
  /** The first commit. */
  readonly base: string;
  readonly commit: (branch: string, files: Record<string, string>, message?: string) => Promise<string>;
  /** Adds many empty commits to main; `at` is in seconds since 1970. */
  readonly import: (
    commits: readonly { readonly message: string; readonly at: number }[],
    branchName?: string,
  ) => void;
  /** Runs git in the forge's repository. */
  readonly git: (...args: string[]) => string;
}

export async function startAdapter(): Promise<Adapter> {
  const world = await startTestForge({ seed: false });
  const installationId = world.forge.installApp("acme", "all").id;
  const forge = createGitHubForge({
    appId: world.forge.app.id,
    privateKey: world.forge.app.privateKey,
    webhookSecret: world.forge.app.webhookSecret,
    baseUrl: world.forge.apiUrl,
    pauseFactor: SHORT_PAUSES,
    log: pino({ level: "silent" }),
  });
  let named = 0;
  return {
    world,
    forge,
    async newRepository(files) {
      const name = `shop-${(named += 1)}`;
      const { id } = await world.forge.createRepository("acme", name, { files });
      const { path } = world.forge.context.git.repository(id);
      const git = (...args: string[]) =>
        execFileSync("git", ["-C", path, ...args], { encoding: "utf8" }).trim();
      const fullName = `acme/${name}`;
      return {
        forgeRef: { installationId, forgeId: id, fullName },
        base: git("rev-parse", "main"),
        commit: (branch, content, message) =>
          world.forge.commit(fullName, branch, content, message === undefined ? {} : { message }),
        import: (commits, branchName = "main") => {
          const input = commits.map((commit, index) => importedCommit(branchName, commit, index === 0));
          execFileSync("git", ["-C", path, "fast-import", "--quiet"], { input: input.join("") });
        },
        git,
      };
    },
  };
}

/** A commit in the format of `git fast-import`. */
function importedCommit(
  branchName: string,
  { message, at }: { readonly message: string; readonly at: number },
  isFirst: boolean,
): string {
  const length = Buffer.byteLength(message);
  const from = isFirst ? `from refs/heads/${branchName}^0\n` : "";
  return `commit refs/heads/${branchName}\ncommitter Ada <ada@example.com> ${at} +0000\ndata ${length}\n${message}\n${from}\n`;
}

/** Picks as the product does: prepares and lands, or drops. */
export async function cherryPick(
  forge: Forge,
  repository: RepositoryRef,
  order: PickOrder,
): Promise<ForgeResult<PickResult>> {
  const prepared = await forge.preparePick(repository, order);
  if (!prepared.ok || prepared.value.state !== "prepared") return prepared as ForgeResult<PickResult>;
  const landed = await forge.applyPick(repository, order, prepared.value);
  if (!landed.ok || landed.value.state !== "picked")
    await forge.discardPick(repository, order, prepared.value);
  return landed;
}
