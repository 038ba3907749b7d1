import { brokenRefusal } from "../../flow/connection.ts";
import type { BranchAnswer, BranchQuestion, InspectOptions } from "../forge.ts";
import { askRepositories, byInstallation, type QuestionKind } from "./ask-repositories.ts";
import { toBranchAnswer } from "./branch-answer.ts";
import type { Caller, GitHubClient } from "./client.ts";
import { InstallationRefused, TooMuchAsked } from "./failures.ts";
import { type RepositoryAnswer, repositoryAnswer } from "./inspect-answer.ts";
import { inspectDocument } from "./inspect-query.ts";

/** Questions in one call: GitHub gives a GraphQL query 10 seconds, and a card has few repositories. */
const PER_CALL = 25;

type Branches = QuestionKind<BranchQuestion, RepositoryAnswer>;

/** In the words GitHub refuses every order with; it is better known before anything was ordered elsewhere. */
export const ARCHIVED = brokenRefusal("archived");

/** What several branches look like now, in the order asked: one call for each installation. */
export async function inspect(
  client: GitHubClient,
  questions: readonly BranchQuestion[],
  options?: InspectOptions,
): Promise<BranchAnswer[]> {
  const kind: Branches = {
    documentOf: (some) => inspectDocument(some, options),
    shape: repositoryAnswer,
  };
  return await byInstallation(questions, (installationId, group) =>
    inspectInstallation(client, kind, installationId, group),
  );
}

async function inspectInstallation(
  client: GitHubClient,
  kind: Branches,
  installationId: number,
  questions: readonly BranchQuestion[],
): Promise<BranchAnswer[]> {
  const answers: BranchAnswer[] = [];
  try {
    for (let start = 0; start < questions.length; start += PER_CALL) {
      const some = questions.slice(start, start + PER_CALL);
      answers.push(...(await inspectParts(() => client.as(installationId), kind, some)));
    }
    return answers;
  } catch (error) {
    if (!(error instanceof InstallationRefused)) throw error;
    return questions.map(() => ({ refusal: error.refusal }));
  }
}

/** What is too much for one answer is asked in two: of 25 pull requests each may have 40 comments and reviews of 65,536 characters. */
async function inspectParts(
  caller: () => Caller,
  kind: Branches,
  questions: readonly BranchQuestion[],
): Promise<BranchAnswer[]> {
  try {
    return await inspectSome(caller(), kind, questions);
  } catch (error) {
    if (!(error instanceof TooMuchAsked) || questions.length === 1) throw error;
    const middle = Math.ceil(questions.length / 2);
    const first = await inspectParts(caller, kind, questions.slice(0, middle));
    return [...first, ...(await inspectParts(caller, kind, questions.slice(middle)))];
  }
}

async function inspectSome(
  caller: Caller,
  kind: Branches,
  questions: readonly BranchQuestion[],
): Promise<BranchAnswer[]> {
  const found = await askRepositories(caller, kind, questions);
  const answers: Promise<BranchAnswer>[] = questions.map(async (question, index) => {
    const answer = found[index]!;
    if (answer.repository?.isArchived) return { refusal: ARCHIVED };
    if (answer.repository !== undefined) return await toBranchAnswer(caller, question, answer.repository);
    if (answer.refusal !== undefined) return { refusal: answer.refusal };
    throw answer.failure;
  });
  return await Promise.all(answers);
}
