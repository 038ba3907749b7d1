import { z } from "zod";
import type { CreatedRef, ForgeResult, RepositoryRef } from "../../values.ts";
import {
  MAX_TAGS_READ,
  type NewTag,
  type ReleaseNotes,
  type TagInspection,
  type TagNames,
  type TaggingQuestion,
  type TipTag,
} from "../../releasing.ts";
import { type GitHubCaller, type GitHubClient, parseResponse } from "../calls/client.ts";
import { isInstallationRefusedError, isUnavailable, orFallback, UnknownOutcome } from "../calls/failures.ts";
import { type GitHubRepository, refusedBy } from "../github-repository.ts";
import { graphqlOutcome, nodesOf, pageInfoShape } from "../calls/graphql-response.ts";
import {
  createRef,
  commitOf,
  inTheWayFields,
  NO_COMMIT,
  readRef,
  refInTheWay,
  TAG_TARGET,
  tagTarget,
  updateRefs,
} from "./refs.ts";
import { allPages, PAGE, succeeded, valueOf } from "../repositories.ts";
import {
  askInstallations,
  askRepository,
  failTooLarge,
  type Question,
  type QuestionKind,
} from "../repository-questions.ts";

const PER_CALL = 50;

const taggingShape = z.looseObject({
  databaseId: z.number(),
  isArchived: z.boolean().nullish(),
  branch: z.looseObject({ target: z.looseObject({ oid: z.string() }).nullish() }).nullish(),
  tag: z.looseObject({ target: tagTarget.nullish() }).nullish(),
});

export const TAGGING: QuestionKind<TaggingQuestion, z.infer<typeof taggingShape>> = {
  operation: "Tagging",
  fields: ({ branchName, tagName }, declare) => `isArchived
      branch: ref(qualifiedName: ${declare("b", "String!", `refs/heads/${branchName}`)}) { target { oid } }
      tag: ref(qualifiedName: ${declare("t", "String!", `refs/tags/${tagName}`)}) { ${TAG_TARGET} }
      ${inTheWayFields(`refs/tags/${tagName}`, declare)}`,
  shape: taggingShape,
};

export const inspectTags = (
  client: GitHubClient,
  questions: readonly TaggingQuestion[],
): Promise<TagInspection[]> =>
  askInstallations(
    client,
    TAGGING,
    { questions, perCall: PER_CALL, tooLarge: failTooLarge },
    (found, { tagName }) => {
      const refusal = refInTheWay(`refs/tags/${tagName}`, found);
      if (refusal !== null) return { refusal };
      return { branchSha: found.branch?.target?.oid ?? null, tagSha: commitOf(found.tag?.target) };
    },
  );

/** Repositories in one call. */
const LISTS_PER_CALL = 25;
const MAX_PAGES = MAX_TAGS_READ / PAGE;
/** For the tags of one repository after its first page. */
const LIST_WITHIN_MS = 10_000;

interface TagListQuestion extends Question {
  readonly cursor: string | null;
}

const tagListShape = z.looseObject({
  databaseId: z.number(),
  refs: z
    .looseObject({ pageInfo: pageInfoShape, nodes: nodesOf(z.looseObject({ name: z.string() })) })
    .nullish(),
});
type TagList = z.infer<typeof tagListShape>;

export const TAG_LIST: QuestionKind<TagListQuestion, TagList> = {
  operation: "TagList",
  fields: ({ cursor }, declare) =>
    `refs(refPrefix: "refs/tags/", first: ${PAGE}, after: ${declare("after", "String", cursor)}, orderBy: { field: TAG_COMMIT_DATE, direction: DESC }) {
      pageInfo { hasNextPage endCursor }
      nodes { name }
    }`,
  shape: tagListShape,
};

export async function readTagNames(
  client: GitHubClient,
  repositories: readonly RepositoryRef[],
): Promise<TagNames[]> {
  const questions = repositories.map((repository) => ({ repository, cursor: null }));
  const asked = { questions, perCall: LISTS_PER_CALL, tooLarge: failTooLarge };
  const found = await askInstallations(client, TAG_LIST, asked, (first, { repository }) => {
    const caller = client.as(repository.installationId, LIST_WITHIN_MS);
    return orFallback(readFurtherNames(caller, repository, first), isUnavailable, null);
  });
  return found.map((each) =>
    each !== null && "refusal" in each ? { ok: false, refusal: each.refusal } : { ok: true, value: each },
  );
}

async function readFurtherNames(
  caller: GitHubCaller,
  repository: RepositoryRef,
  first: TagList,
): Promise<string[]> {
  const names: string[] = [];
  let page = first;
  for (let pages = 1; ; pages++) {
    names.push(...(page.refs?.nodes ?? []).map(({ name }) => name));
    const { hasNextPage = false, endCursor } = page.refs?.pageInfo ?? {};
    if (!hasNextPage || !endCursor || pages === MAX_PAGES) return names;
    page = valueOf(await askRepository(caller, TAG_LIST, { repository, cursor: endCursor }));
  }
}

const readTagHead = async (repository: GitHubRepository, tagName: string): Promise<string | null> =>
  valueOf(await readRef(repository, `refs/tags/${tagName}`)).sha;

export const createTag = (repository: GitHubRepository, name: string, sha: string): Promise<CreatedRef> =>
  createRef(repository, { kind: "tag", name, sha }, () => readTagHead(repository, name));

/**
 * GitHub compares `beforeOid` of all refs before it updates any
 * (https://docs.github.com/en/graphql/reference/mutations#updaterefs). GitHub does not document
 * whether a branch may be listed without a change; if it refuses that, nothing is written.
 */
export async function tagBranchTip(
  repository: GitHubRepository,
  { branchName, tagName, sha }: TipTag,
): Promise<boolean> {
  const { nodeId } = repository.ref;
  if (!nodeId) return false;
  const refs = [
    { name: `refs/tags/${tagName}`, beforeOid: NO_COMMIT, afterOid: sha },
    { name: `refs/heads/${branchName}`, beforeOid: sha, afterOid: sha },
  ];
  const tag = async () => (await updateRefs(repository.caller, nodeId, refs)) === null;
  const find = async () => ((await readTagHead(repository, tagName)) === sha ? true : null);
  return await orFallback(repository.runWrite(tag, find), isInstallationRefusedError, false);
}

const createdShape = z
  .record(
    z.string(),
    z
      .looseObject({ ref: z.looseObject({ target: z.looseObject({ oid: z.string() }).nullish() }).nullish() })
      .nullish()
      .catch(null),
  )
  .nullish();

/** GitHub runs the fields one by one; a refused one is null and does not stop the others. */
export function createTagsDocument(count: number): string {
  const numbers = Array.from({ length: count }, (_, index) => index);
  const variables = numbers.map((at) => `$r${at}: ID!, $n${at}: String!, $s${at}: GitObjectID!`);
  const fields = numbers.map(
    (at) =>
      `t${at}: createRef(input: { repositoryId: $r${at}, name: $n${at}, oid: $s${at} }) { ref { target { oid } } }`,
  );
  return `mutation CreateTags(${variables.join(", ")}) {\n${fields.join("\n")}\n}`;
}

export async function createTags(caller: GitHubCaller, tags: readonly NewTag[]): Promise<boolean[]> {
  const known = tags.filter(({ repository }) => repository.nodeId);
  if (known.length === 0) return tags.map(() => false);
  const variables = known.flatMap(({ repository, tagName, sha }, at) => [
    [`r${at}`, repository.nodeId],
    [`n${at}`, `refs/tags/${tagName}`],
    [`s${at}`, sha],
  ]);
  try {
    const response = await caller.mutate(createTagsDocument(known.length), Object.fromEntries(variables));
    const outcome = graphqlOutcome(response);
    if (!outcome.ok) return tags.map(() => false);
    const created = parseResponse(createdShape, { ...response, body: outcome.value.data });
    return tags.map((tag) => created?.[`t${known.indexOf(tag)}`]?.ref?.target?.oid === tag.sha);
  } catch (error) {
    if (error instanceof UnknownOutcome || isInstallationRefusedError(error)) return tags.map(() => false);
    throw error;
  }
}

type Published = ForgeResult<{ readonly url: string }>;

const releaseShape = z.looseObject({ html_url: z.string(), tag_name: z.string() });
const listedShape = releaseShape.extend({ draft: z.boolean().nullish() });
const errorsShape = z.looseObject({ errors: z.array(z.looseObject({ code: z.string().nullish() })) });

/**
 * With `make_latest: "legacy"`, GitHub decides by the date and the semantic version
 * (https://docs.github.com/en/rest/releases/releases#create-a-release).
 *
 * GitHub creates a missing tag at `target_commitish`, and ignores that if the tag exists.
 */
export async function publishRelease(
  repository: GitHubRepository,
  { tagName, sha, name, body, references = [], isPrerelease, isLatest }: ReleaseNotes,
): Promise<Published> {
  const find = async (): Promise<Published | null> => {
    const url = await readReleaseUrl(repository, tagName);
    return url === null ? null : { ok: true, value: { url } };
  };
  const text = { isMarkdown: true, keeps: references.map((number) => `#${number}`) };
  return await repository.runWrite(async () => {
    const flags = { prerelease: isPrerelease, make_latest: isLatest === null ? "legacy" : String(isLatest) };
    const release = { tag_name: tagName, target_commitish: sha, name, body, ...flags };
    const response = await repository.write("POST /releases", release, text);
    if (response.status < 300)
      return { ok: true, value: { url: parseResponse(releaseShape, response).html_url } };
    if (!isTaken(response.body)) return refusedBy(response);
    const found = await find();
    if (found !== null) return found;
    if (await isDraft(repository, tagName)) return refusedBy(response);
    throw new UnknownOutcome("GitHub has the release, but does not show it yet");
  }, find);
}

function isTaken(body: unknown): boolean {
  const parsed = errorsShape.safeParse(body);
  return parsed.success && parsed.data.errors.some(({ code }) => code === "already_exists");
}

/** Only the listing contains drafts. */
async function isDraft({ read }: GitHubRepository, tagName: string): Promise<boolean> {
  const isTheDraft = (release: z.infer<typeof listedShape>): boolean =>
    release.draft === true && release.tag_name === tagName;
  const listed = await allPages(
    (page) => read("/releases", { per_page: PAGE, page }),
    (response) => parseResponse(z.array(listedShape), succeeded(response)),
    (releases) => releases.some(isTheDraft),
  );
  return listed.some(isTheDraft);
}

/** Finds published releases only. */
export async function readReleaseUrl({ read }: GitHubRepository, tagName: string): Promise<string | null> {
  const response = await read("/releases/tags/{tag}", { tag: tagName });
  if (response.status === 404) return null;
  const { html_url: url, tag_name: found } = parseResponse(releaseShape, succeeded(response));
  return found === tagName ? url : null;
}
