import type { Clone } from "../git.ts";

export interface LandedByGit {
  readonly sha: string;
  readonly at: string;
  readonly title: string;
  readonly reverts: string | null;
}

/** The landings on main according to Git. The last lines of messages identify rebased commits. */
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
  const reverted = (message: string) => /^This reverts commit (\w{40})/m.exec(message)?.[1] ?? null;
  const line = await read("--first-parent", "main");
  const part = (message: string) => /^Part-of: (.*)$/m.exec(message)?.[1] ?? null;
  const landed = line.filter(
    ({ message, parents }, index) =>
      parents.length > 1 || part(message) === null || part(message) !== part(line[index - 1]?.message ?? ""),
  );
  const landings: LandedByGit[] = [];
  const reverting = new Set<string>();
  for (const { sha, at, title, message, parents } of landed.toReversed()) {
    const [first = "", second] = parents;
    const brought = second === undefined ? [] : await read(`${first}..${second}`);
    const all = brought.map((commit) => ({ by: commit.sha, of: reverted(commit.message) }));
    const of =
      reverted(message) ?? (all.length > 0 && all.every((each) => each.of) ? (all[0]?.of ?? null) : null);
    const counts = of !== null && !reverting.has(of);
    if (counts) for (const by of [sha, ...all.map((each) => each.by)]) reverting.add(by);
    landings.unshift({ sha, at, title, reverts: counts ? of : null });
  }
  return landings;
}
