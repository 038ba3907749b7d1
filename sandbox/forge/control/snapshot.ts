import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ForgeContext } from "../context.ts";
import { openRepository, type GitRepository } from "../git/git.ts";
import { listRefs } from "../git/refs.ts";

/** The forge at an earlier time, to serve stale reads from. */
export interface Snapshot {
  readonly forge: ForgeContext;
  close(): void;
}

/**
 * Copies the repositories' rows and refs. Git objects are shared; accounts, tokens and
 * installations stay current.
 */
export async function takeSnapshot(forge: ForgeContext): Promise<Snapshot> {
  mkdirSync(forge.git.snapshotsFolder, { recursive: true });
  const folder = mkdtempSync(join(forge.git.snapshotsFolder, "snapshot-"));
  const copies = new Map<number, GitRepository>();
  for (const { id, defaultBranch } of forge.state.repositories.all()) {
    const path = join(folder, `${id}.git`);
    copies.set(id, await copyRepository(forge.git.repository(id), { path, defaultBranch }, forge.git.env));
  }
  const git = { ...forge.git, repository: (id: number) => copies.get(id) ?? forge.git.repository(id) };
  return {
    forge: { ...forge, git, state: copyRows(forge) },
    close() {
      for (const repository of copies.values()) repository.objects.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function copyRows({ state }: ForgeContext): ForgeContext["state"] {
  return {
    ...state,
    repositories: state.repositories.copy(),
    pullRequests: state.pullRequests.copy(),
    reviews: state.reviews.copy(),
    comments: state.comments.copy(),
    statuses: state.statuses.copy(),
    checkSuites: state.checkSuites.copy(),
    checkRuns: state.checkRuns.copy(),
    releases: state.releases.copy(),
    protections: state.protections.copy(),
    mergeRequests: state.mergeRequests.copy(),
  };
}

/** Creates a bare repository with the current refs and the original's objects as alternates. */
async function copyRepository(
  from: GitRepository,
  { path, defaultBranch }: { readonly path: string; readonly defaultBranch: string },
  env: Readonly<Record<string, string>>,
): Promise<GitRepository> {
  mkdirSync(join(path, "objects", "info"), { recursive: true });
  mkdirSync(join(path, "refs"));
  const refs = await listRefs(from, "");
  writeFileSync(join(path, "HEAD"), `ref: refs/heads/${defaultBranch}\n`);
  writeFileSync(join(path, "objects", "info", "alternates"), `${join(from.path, "objects")}\n`);
  writeFileSync(join(path, "packed-refs"), refs.map((ref) => `${ref.sha} ${ref.name}\n`).join(""));
  return openRepository(path, env);
}
