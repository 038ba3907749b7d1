import type { ForgeContext } from "../context.ts";
import { bodyOf, subjectOf } from "../git/commits.ts";
import { commitsBetween } from "../git/history.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";

/** The caller's title and message; null takes GitHub's default. */
interface MessageChoice {
  readonly title: string | null;
  readonly message: string | null;
}

const join = (title: string, body: string): string => (body.trim() === "" ? title : `${title}\n\n${body}`);

/** The message of a merge commit, by default GitHub's `MERGE_MESSAGE` and `PR_TITLE`. */
export function mergeMessage(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  choice: MessageChoice,
): string {
  const owner = forge.state.accounts.need(repository.ownerId).login;
  const title = choice.title ?? `Merge pull request #${pull.number} from ${owner}/${pull.headRef}`;
  return join(title, choice.message ?? pull.title);
}

/** The message of a squash commit, by default `COMMIT_OR_PR_TITLE` and `COMMIT_MESSAGES`. */
export async function squashMessage(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  choice: MessageChoice,
  baseTip: string,
): Promise<string> {
  const repo = forge.git.repository(repository.id);
  const commits = await commitsBetween(repo, baseTip, pull.headSha);
  const [only] = commits;
  const isOne = commits.length === 1 && only !== undefined;
  const title = choice.title ?? `${isOne ? subjectOf(only.message) : pull.title} (#${pull.number})`;
  const listed = () =>
    commits.map((each) => join(`* ${subjectOf(each.message)}`, bodyOf(each.message))).join("\n\n");
  const body = choice.message ?? (isOne ? bodyOf(only.message) : listed());
  const author = forge.state.accounts.need(pull.userId);
  const others = new Map(
    commits
      .filter(({ author: by }) => by.email !== author.email)
      .map(({ author: by }) => [by.email, by.name]),
  );
  const credits = [...others].map(([email, name]) => `Co-authored-by: ${name} <${email}>`);
  return join(join(title, body), credits.join("\n"));
}
