import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The one git hook: refuses the refs a push was told it may not touch, or not rewrite. The lists come with each push. */
const UPDATE_HOOK = `#!/bin/sh
refuse() {
  echo "error: GH006: Protected branch update failed for $1." >&2
  echo "error: $2" >&2
  exit 1
}
case " $FORGE_PROTECTED_REFS " in
*" $1 "*) refuse "$1" "You're not authorized to push to this branch." ;;
esac
case " $FORGE_FORWARD_ONLY_REFS " in
*" $1 "*)
  case "$2$3" in *0000000000000000000000000000000000000000*) exit 0 ;; esac
  git merge-base --is-ancestor "$2" "$3" || refuse "$1" "Cannot force-push to this branch"
  ;;
esac
`;

/** Writes the hooks every repository uses and answers their folder. */
export function writeGitHooks(dataDir: string): string {
  const folder = join(dataDir, "git-hooks");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "update"), UPDATE_HOOK);
  chmodSync(join(folder, "update"), 0o755);
  return folder;
}
