import type { Clone } from "../git.ts";

export interface LandedByGit {
  readonly sha: string;
  readonly at: string;
  readonly title: string;
  readonly reverts: string | null;
}

/** What landed on main by git's word alone, newest first. A rebased pull request's commits are told by their last lines. */
export async function landingsByGit(clone: Clone): Promise<LandedByGit[]> {
  await clone.checkout("main");
  const format = "--format=%H%x00%cI%x00%s%x00%B%x00%P%x01";
  const read = async (...range: string[]) =>
    (await clone.git("log", format, ...range))
      .split("\u0001")
      .map((record) => record.trim())
      .filter((record) => record !== "")
      .map((record) => {
        const [sha = "", at = "", title = "", message = "", parents = ""] = record.split("\u0000");
        return { sha, at: new Date(at).toISOString(), title, message, parents: parents.split(" ") };
      });
  const undone = (message: string) => /^This reverts commit (\w{40})/m.exec(message)?.[1] ?? null;
  const line = await read("--first-parent", "main");
  const part = (message: string) => /^Part-of: (.*)$/m.exec(message)?.[1] ?? null;
  const landed = line.filter(
    ({ message, parents }, index) =>
      parents.length > 1 || part(message) === null || part(message) !== part(line[index - 1]?.message ?? ""),
  );
  const told: LandedByGit[] = [];
  const reverting = new Set<string>();
  for (const { sha, at, title, message, parents } of landed.toReversed()) {
    const [first = "", second] = parents;
    const brought = second === undefined ? [] : await read(`${first}..${second}`);
    const all = brought.map((commit) => ({ by: commit.sha, of: undone(commit.message) }));
    const of =
      undone(message) ?? (all.length > 0 && all.every((each) => each.of) ? (all[0]?.of ?? null) : null);
    const counts = of !== null && !reverting.has(of);
    if (counts) for (const by of [sha, ...all.map((each) => each.by)]) reverting.add(by);
    told.unshift({ sha, at, title, reverts: counts ? of : null });
  }
  return told;
}
