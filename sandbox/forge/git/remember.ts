import type { GitRepository } from "./git.ts";

/** So many answers are kept for each repository and kind; then all are forgotten and asked for again. */
const KEPT = 2_000;

/**
 * Keeps what git said about given commits. Commits never change, so neither do the answers; a spawn of git costs about 4 ms.
 */
export function remembering<Answer>(
  ask: (repo: GitRepository, one: string, other: string) => Promise<Answer>,
): (repo: GitRepository, one: string, other: string) => Promise<Answer> {
  const kept = new WeakMap<GitRepository, Map<string, Promise<Answer>>>();
  return (repo, one, other) => {
    const answers = kept.get(repo) ?? new Map<string, Promise<Answer>>();
    kept.set(repo, answers);
    const key = `${one} ${other}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (answers.size >= KEPT) answers.clear();
    const asked = ask(repo, one, other);
    answers.set(key, asked);
    asked.catch(() => answers.delete(key));
    return asked;
  };
}
