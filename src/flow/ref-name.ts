/**
 * The longest branch name in bytes: a ref is a file for git and GitHub, whose name with `refs/heads/` before it and `.lock` behind it has to
 * fit into 255.
 */
export const MAX_BRANCH_NAME_BYTES = 239;

const FORBIDDEN = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$|(^|\/)\.|\.lock(\/|$)/u;

/** Whether a branch may have this name, by the rules of `git check-ref-format --branch` and by its length. */
export const isBranchName = (name: string): boolean =>
  name !== "" &&
  name !== "HEAD" &&
  !FORBIDDEN.test(name) &&
  new TextEncoder().encode(name).length <= MAX_BRANCH_NAME_BYTES;

const FULL_SHA = /^[0-9a-f]{40}$/i;

/** Whether a tag may have this name: as a branch, and not to be taken for a commit. */
export const isTagName = (name: string): boolean =>
  isBranchName(name) && name !== "@" && !FULL_SHA.test(name);
