import { ForgeUnavailable } from "../../forge/values.ts";
import { listProjectRepositories } from "../../store/forge/repositories.ts";
import type { BranchInspection } from "../../forge/pull-requests.ts";
import type { Deps } from "../deps.ts";

/** How many repositories one request asks GitHub about: four calls. */
const MAX_ASKED = 100;

interface FoundBranch {
  readonly repositoryId: string;
  readonly fullName: string;
  /** Null if GitHub did not say. */
  readonly exists: boolean | null;
}

/** Asks GitHub in which of the first repositories of a project a branch exists. */
export async function findBranch(deps: Deps, projectId: string, branchName: string): Promise<FoundBranch[]> {
  const repositories = (await listProjectRepositories(deps.db, projectId)).slice(0, MAX_ASKED);
  const questions = repositories.flatMap(({ forgeRef }) =>
    forgeRef ? [{ repository: forgeRef, branchName: null, targetBranch: branchName }] : [],
  );
  const inspections = await inspectAll(deps, questions);
  return repositories.map(({ id, fullName, forgeRef }) => {
    const inspection = inspections[questions.findIndex(({ repository }) => repository === forgeRef)];
    const exists = inspection && !inspection.refusal ? inspection.target.sha !== null : null;
    return { repositoryId: id, fullName, exists };
  });
}

/** No inspections if GitHub did not respond. */
async function inspectAll(
  { forge, log }: Deps,
  questions: Parameters<Deps["forge"]["inspect"]>[0],
): Promise<readonly BranchInspection[]> {
  if (questions.length === 0) return [];
  try {
    return await forge.inspect(questions, { isPartial: true });
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    log.warn({ err: error }, "whether a branch exists could not be read");
    return [];
  }
}
