import { z } from "zod";
import { ForgeUnavailable, type Ordered, type RepositoryRef } from "../forge.ts";
import type { ReleaseNotes, TipTag } from "../releasing.ts";
import type { CarryOut } from "./carry-out.ts";
import { type Caller, shaped } from "./client.ts";
import { InstallationRefused, UnknownOutcome } from "./failures.ts";
import { allWordsOf } from "./forge-words.ts";
import { readRefState } from "./read-ref.ts";
import { refusalOf } from "./refusals.ts";
import { REPOSITORY, succeeded } from "./repositories.ts";
import { NO_COMMIT, updateRefs } from "./update-refs.ts";

type TagOrder = Ordered<{ readonly created: boolean } | { readonly taken: string }>;
type ReleaseOrder = Ordered<{ readonly url: string }>;

const refShape = z.looseObject({ object: z.looseObject({ sha: z.string() }) });
const releaseShape = z.looseObject({ html_url: z.string(), tag_name: z.string() });
const listedShape = releaseShape.extend({ draft: z.boolean().nullish() });
const errorsShape = z.looseObject({
  errors: z.array(z.looseObject({ code: z.string().nullish(), field: z.string().nullish() })),
});

/** The commit a tag leads to, an annotated one too. */
async function readTagHead(
  caller: Caller,
  repository: RepositoryRef,
  tagName: string,
): Promise<string | null> {
  const found = await readRefState(caller, repository, `refs/tags/${tagName}`);
  if (found.ok) return found.value.sha;
  throw new ForgeUnavailable(`GitHub refuses to be asked: ${found.refusal.message}`, { retryAfter: 60 });
}

/** Creates a lightweight tag; one that exists is reported, never moved. */
export async function createTag(
  caller: Caller,
  carryOut: CarryOut,
  repository: RepositoryRef,
  tagName: string,
  sha: string,
): Promise<TagOrder> {
  const find = async (): Promise<TagOrder | null> => {
    const head = await readTagHead(caller, repository, tagName);
    if (head === null) return null;
    return { ok: true, value: head === sha ? { created: false } : { taken: head } };
  };
  return await carryOut(async () => {
    const parameters = { repository_id: repository.forgeId, ref: `refs/tags/${tagName}`, sha };
    const answer = await caller.write(`POST ${REPOSITORY}/git/refs`, parameters);
    if (answer.status === 422 && /reference already exists/i.test(allWordsOf(answer.body))) {
      const found = await find();
      if (found === null) throw new UnknownOutcome("GitHub has the tag, but does not show it yet");
      return found;
    }
    if (answer.status >= 300) return { ok: false, refusal: refusalOf(answer.status, answer.body) };
    const made = shaped(refShape, answer).object.sha;
    return { ok: true, value: made === sha ? { created: true } : { taken: made } };
  }, find);
}

/**
 * Creates a tag and leaves the branch where it is, both or neither. GitHub compares where each ref is said to be before it touches any
 * (https://docs.github.com/en/graphql/reference/mutations#updaterefs). Whether it lets every branch be named at the commit it is at is not
 * told there: where it does not, nothing is written.
 */
export async function tagTip(
  caller: Caller,
  carryOut: CarryOut,
  repository: RepositoryRef,
  { branchName, tagName, sha }: TipTag,
): Promise<boolean> {
  const { nodeId } = repository;
  if (!nodeId) return false;
  const refs = [
    { name: `refs/tags/${tagName}`, beforeOid: NO_COMMIT, afterOid: sha },
    { name: `refs/heads/${branchName}`, beforeOid: sha, afterOid: sha },
  ];
  const find = async (): Promise<boolean | null> =>
    (await readTagHead(caller, repository, tagName)) === sha ? true : null;
  try {
    return await carryOut(async () => (await updateRefs(caller, nodeId, refs)) === null, find);
  } catch (error) {
    if (error instanceof InstallationRefused) return false;
    throw error;
  }
}

/**
 * Publishes the release of a tag. GitHub makes a missing tag by itself, at the commit given; where the tag is there the commit counts for
 * nothing. One published for the tag already is taken as it is.
 */
export async function publishRelease(
  caller: Caller,
  carryOut: CarryOut,
  repository: RepositoryRef,
  { tagName, sha, name, body }: ReleaseNotes,
): Promise<ReleaseOrder> {
  const find = (): Promise<ReleaseOrder | null> => findRelease(caller, repository, tagName);
  return await carryOut(async () => {
    const answer = await caller.write(`POST ${REPOSITORY}/releases`, {
      repository_id: repository.forgeId,
      tag_name: tagName,
      target_commitish: sha,
      name,
      body,
    });
    if (answer.status < 300) {
      return { ok: true, value: { url: shaped(releaseShape, answer).html_url } };
    }
    const refusal = { ok: false, refusal: refusalOf(answer.status, answer.body) } as const;
    if (!isTaken(answer.body)) return refusal;
    const found = await find();
    if (found !== null) return found;
    if (await isDraft(caller, repository, tagName)) return refusal;
    throw new UnknownOutcome("GitHub has the release, but does not show it yet");
  }, find);
}

function isTaken(body: unknown): boolean {
  const parsed = errorsShape.safeParse(body);
  return parsed.success && parsed.data.errors.some(({ code }) => code === "already_exists");
}

/** Whether the newest releases have a draft with this tag, which only a listing shows. */
async function isDraft(caller: Caller, repository: RepositoryRef, tagName: string): Promise<boolean> {
  const parameters = { repository_id: repository.forgeId, per_page: 100 };
  const answer = succeeded(await caller.read(`GET ${REPOSITORY}/releases`, parameters));
  const listed = shaped(z.array(listedShape), answer);
  return listed.some((release) => release.draft === true && release.tag_name === tagName);
}

/** Drafts are not told of here. */
async function findRelease(
  caller: Caller,
  repository: RepositoryRef,
  tagName: string,
): Promise<ReleaseOrder | null> {
  const parameters = { repository_id: repository.forgeId, tag: tagName };
  const answer = await caller.read(`GET ${REPOSITORY}/releases/tags/{tag}`, parameters);
  if (answer.status === 404) return null;
  const { html_url: url, tag_name: found } = shaped(releaseShape, succeeded(answer));
  return found === tagName ? { ok: true, value: { url } } : null;
}
