import { z } from "zod";
import type { TaggingAnswer, TaggingQuestion } from "../releasing.ts";
import { askRepositories, byInstallation, type Document, type QuestionKind } from "./ask-repositories.ts";
import type { GitHubClient } from "./client.ts";
import { InstallationRefused } from "./failures.ts";
import { ARCHIVED } from "./inspect.ts";
import { leadsTo, TAG_TARGET, tagTarget } from "./read-ref.ts";

const PER_CALL = 50;

const answerShape = z.looseObject({
  databaseId: z.number(),
  isArchived: z.boolean().nullish(),
  branch: z.looseObject({ target: z.looseObject({ oid: z.string() }).nullish() }).nullish(),
  tag: z.looseObject({ target: tagTarget.nullish() }).nullish(),
});

export const TAGGING: QuestionKind<TaggingQuestion, z.infer<typeof answerShape>> = {
  documentOf: taggingDocument,
  shape: answerShape,
};

function taggingDocument(questions: readonly TaggingQuestion[]): Document {
  const variables: Record<string, string> = {};
  const parts = questions.map(({ repository, branchName, tagName }, index) => {
    const [owner = "", name = ""] = repository.fullName.split("/");
    Object.assign(variables, {
      [`o${index}`]: owner,
      [`n${index}`]: name,
      [`b${index}`]: `refs/heads/${branchName}`,
      [`t${index}`]: `refs/tags/${tagName}`,
    });
    return `r${index}: repository(owner: $o${index}, name: $n${index}) {
      databaseId
      isArchived
      branch: ref(qualifiedName: $b${index}) { target { oid } }
      tag: ref(qualifiedName: $t${index}) { ${TAG_TARGET} }
    }`;
  });
  const types = Object.keys(variables).map((variable) => `$${variable}: String!`);
  return { document: `query Tagging(${types.join(", ")}) {\n${parts.join("\n")}\n}`, variables };
}

/** Where the branches and tags stand that are about to be tagged and written: one call for each installation, for every 50. */
export async function lookBeforeTagging(
  client: GitHubClient,
  questions: readonly TaggingQuestion[],
): Promise<TaggingAnswer[]> {
  return await byInstallation(questions, async (installationId, group) => {
    const answers: TaggingAnswer[] = [];
    try {
      for (let start = 0; start < group.length; start += PER_CALL) {
        const some = group.slice(start, start + PER_CALL);
        for (const found of await askRepositories(client.as(installationId), TAGGING, some)) {
          if (found.repository) answers.push(answerOf(found.repository));
          else if ("failure" in found && found.failure) throw found.failure;
          else if ("refusal" in found && found.refusal) answers.push({ refusal: found.refusal });
        }
      }
      return answers;
    } catch (error) {
      if (!(error instanceof InstallationRefused)) throw error;
      return group.map(() => ({ refusal: error.refusal }));
    }
  });
}

const answerOf = ({ isArchived, branch, tag }: z.infer<typeof answerShape>): TaggingAnswer =>
  isArchived
    ? { refusal: ARCHIVED }
    : { branchSha: branch?.target?.oid ?? null, tagSha: leadsTo(tag?.target) };
