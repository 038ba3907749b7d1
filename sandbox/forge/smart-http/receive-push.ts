import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { handleRefChanges } from "../actions/change-refs.ts";
import { mayPush, mayRewrite, protectionOf } from "../actions/protection.ts";
import type { ForgeContext } from "../context.ts";
import { branchNameOf, ZERO_SHA, readRef } from "../git/refs.ts";
import type { RefChange } from "../present/push.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";

/** Receives a push: git updates the refs, then events are emitted and pull requests updated. */
export function receivePush(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  body: Buffer,
  /** Runs git, then `onExit`, then ends the response. */
  run: (env: Readonly<Record<string, string>>, onExit: () => Promise<void>) => Promise<void>,
): Promise<void> {
  return forge.withLock(repository.id, async () => {
    const repo = forge.git.repository(repository.id);
    const commands = readCommands(body);
    const before = await Promise.all(commands.map(({ name }) => readRef(repo, name)));
    const protectedRefs = commands
      .filter((command) => !isAllowed(forge, repository, by, command))
      .map(({ name }) => name);
    const forwardOnlyRefs = commands
      .map(({ name }) => name)
      .filter((name) => protectionOf(forge, repository, branchNameOf(name))?.allowForcePushes === false);
    const signedRefs = commands
      .map(({ name }) => name)
      .filter((name) => protectionOf(forge, repository, branchNameOf(name))?.requiredSignatures);
    const onExit = async () => {
      const after = await Promise.all(commands.map(({ name }) => readRef(repo, name)));
      const changes = commands.map(({ name }, index): RefChange => {
        return { name, before: before[index] ?? null, after: after[index] ?? null };
      });
      await handleRefChanges(forge, repository.id, by, changes);
    };
    await run(
      {
        FORGE_PROTECTED_REFS: protectedRefs.join(" "),
        FORGE_FORWARD_ONLY_REFS: forwardOnlyRefs.join(" "),
        FORGE_SIGNED_REFS: signedRefs.join(" "),
      },
      onExit,
    );
  });
}

interface Command {
  readonly name: string;
  /** Null deletes the ref. */
  readonly after: string | null;
}

/** The ref updates of a push: the packet lines up to the first flush (gitprotocol-pack). */
function readCommands(body: Buffer): Command[] {
  const commands: Command[] = [];
  for (let at = 0; at + 4 <= body.length;) {
    const length = Number.parseInt(body.toString("latin1", at, at + 4), 16);
    if (Number.isNaN(length) || length < 4) break;
    const line = body.toString("utf8", at + 4, at + length).split("\0")[0] ?? "";
    const [, after, name] = /^[0-9a-f]{40} ([0-9a-f]{40}) (\S+)\n?$/.exec(line) ?? [];
    if (after !== undefined && name !== undefined)
      commands.push({ name, after: after === ZERO_SHA ? null : after });
    at += length;
  }
  return commands;
}

function isAllowed(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  command: Command,
): boolean {
  if (!command.name.startsWith("refs/heads/")) return true;
  const branch = branchNameOf(command.name);
  if (!mayPush(forge, repository, branch, by)) return false;
  return command.after !== null || mayRewrite(forge, repository, branch, "delete");
}

/**
 * Rejects pushes to protected refs, force pushes to forward-only refs, and commits without a
 * signature, of any key, to signed refs; see `receivePush`.
 */
const UPDATE_HOOK = `#!/bin/sh
refuse() {
  echo "error: GH006: Protected branch update failed for $1." >&2
  echo "error: $2" >&2
  exit 1
}
case " $FORGE_PROTECTED_REFS " in
*" $1 "*) refuse "$1" "You're not authorized to push to this branch." ;;
esac
case " $FORGE_SIGNED_REFS " in
*" $1 "*)
  for commit in $(git rev-list "$3" --not --branches 2> /dev/null); do
    git cat-file commit "$commit" | sed '/^$/q' | grep -q '^gpgsig ' ||
      refuse "$1" "Commits must have verified signatures."
  done
  ;;
esac
case " $FORGE_FORWARD_ONLY_REFS " in
*" $1 "*)
  case "$2$3" in *0000000000000000000000000000000000000000*) exit 0 ;; esac
  git merge-base --is-ancestor "$2" "$3" || refuse "$1" "Cannot force-push to this branch"
  ;;
esac
`;

/** Writes the git hook of all repositories and returns its folder. */
export function writeGitHooks(dataDir: string): string {
  const folder = join(dataDir, "git-hooks");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "update"), UPDATE_HOOK);
  chmodSync(join(folder, "update"), 0o755);
  return folder;
}
