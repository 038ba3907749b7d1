import { readRef } from "../../sandbox/forge/git/refs.ts";
import type { RepositoryRow } from "../../sandbox/forge/rows.ts";
import { SHARED } from "../world/shared-repository.ts";
import type { Invariant, Subject } from "./subject.ts";

interface ReportedLanding {
  readonly fullName: string;
  readonly branchName: string;
  readonly sha: string;
  readonly prNumber: number | null;
}

const DAYS = 60;

// Invariant: I19 The trunk report has what is on a trunk, in the order of the branch
/**
 * After repair, the landings of a trunk are commits of its first-parent line, newest first, and each
 * commit of the line is a landing or belongs to the pull request of one.
 */
export const trunkReportFollowsBranches: Invariant = async ({ world, known }) => {
  const found: string[] = [];
  const from = new Date(Date.now() - DAYS * 86_400_000).toISOString().slice(0, 10);
  for (const { board } of known) {
    const { body } = await board.api.get<{ landings: readonly ReportedLanding[] }>(
      `/v1/trunk?from=${from}&projectId=${board.projectId}`,
    );
    for (const repository of repositoriesOf(world, board.owner)) {
      const branch = repository.defaultBranch;
      const what = `${board.owner}/${repository.name} ${branch}`;
      const landings = body.landings.filter(
        ({ fullName, branchName }) =>
          fullName === `${board.owner}/${repository.name}` && branchName === branch,
      );
      const faults = wrongLandings(landings, await lineOf(world, repository), pullOf(world, repository));
      found.push(...faults.map((fault) => `${what}: ${fault}`));
    }
  }
  return found;
};

/** The repositories of a board that do not change hands. */
function repositoriesOf({ forge }: Subject["world"], owner: string): RepositoryRow[] {
  const { accounts, repositories } = forge.context.state;
  const [account] = accounts.inGroup(owner);
  return repositories.all().filter(({ ownerId, name }) => ownerId === account?.id && name !== SHARED);
}

/** The commits of a trunk without merged ones, newest first. */
async function lineOf({ forge }: Subject["world"], repository: RepositoryRow): Promise<string[]> {
  const repo = forge.context.git.repository(repository.id);
  const tip = await readRef(repo, `refs/heads/${repository.defaultBranch}`);
  return tip === null ? [] : (await repo.text(["rev-list", "--first-parent", tip, "--"])).trim().split("\n");
}

/** The number of the pull request whose merge ends with a commit. */
function pullOf({ forge }: Subject["world"], { id }: RepositoryRow): (sha: string) => number | undefined {
  const pulls = forge.context.state.pullRequests.inGroup(id);
  return (sha) =>
    pulls.find(({ mergeCommitSha, mergedAt }) => mergedAt !== null && mergeCommitSha === sha)?.number;
}

function wrongLandings(
  landings: readonly ReportedLanding[],
  line: readonly string[],
  pullNumberOf: (sha: string) => number | undefined,
): string[] {
  const shas = landings.map(({ sha }) => sha);
  const numbers = new Set(landings.map(({ prNumber }) => prNumber));
  const ordered = line.filter((sha) => shas.includes(sha));
  const missing = line.filter((sha) => {
    const number = pullNumberOf(sha);
    return !shas.includes(sha) && !(number !== undefined && numbers.has(number));
  });
  return [
    ...shas.filter((sha) => !line.includes(sha)).map((sha) => `the report has ${sha}, which is not on it`),
    ...missing.map((sha) => `the report lacks ${sha}`),
    ...(shas.filter((sha) => line.includes(sha)).join() === ordered.join()
      ? []
      : [`the report has the order ${shas.join(", ")} instead of ${ordered.join(", ")}`]),
  ];
}
