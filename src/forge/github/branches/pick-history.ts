import type { ForgeResult } from "../../values.ts";
import type { GitHubRepository } from "../github-repository.ts";
import { askRepository } from "../repository-questions.ts";
import {
  type BranchHistory,
  type MergedCommit,
  missingFrom,
  OLDER_COMMITS,
  type PickState,
} from "./pick-state.ts";

/** Of 100 commits each. A pick has 25 seconds, and a commit that is picked again changes nothing. */
const MAX_PAGES = 20;
/** The history ends at so many commits in a row that are too old, because a commit can have any date. */
const OLD_COMMITS = 50;

/**
 * The state with as much of the branch's history as may contain the commits or their picks, which
 * cannot be older than the commits.
 */
export async function withOlderCommits(
  { caller, ref }: GitHubRepository,
  state: PickState,
  commits: readonly MergedCommit[],
): Promise<ForgeResult<PickState>> {
  const oids = commits.map(({ oid }) => oid);
  const since = Math.min(...commits.map(({ committedDate }) => Date.parse(committedDate)));
  let found = state;
  for (let pages = 1; ; pages++) {
    const target = found.branch?.target;
    if (!target || missingFrom(found, oids).size === 0) return { ok: true, value: found };
    const { pageInfo, nodes } = target.history;
    const { hasNextPage, endCursor } = pageInfo;
    if (!hasNextPage || !endCursor || isBefore(target.history, since) || pages === MAX_PAGES)
      return { ok: true, value: found };
    const question = { repository: ref, tip: target.oid, cursor: endCursor };
    const asked = await askRepository(caller, OLDER_COMMITS, question);
    if (!asked.ok) return asked;
    const older = asked.value.start?.history;
    if (!older) return { ok: true, value: found };
    const history = { ...older, nodes: [...nodes, ...older.nodes] };
    found = { ...found, branch: { ...found.branch, target: { ...target, history } } };
  }
}

const isBefore = ({ nodes }: BranchHistory, since: number): boolean =>
  nodes.slice(-OLD_COMMITS).every(({ committedDate }) => Date.parse(committedDate) < since);
