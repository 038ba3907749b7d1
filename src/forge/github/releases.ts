import { z } from "zod";
import type { Ordered } from "../forge.ts";
import type { ReleaseNotes } from "../releasing.ts";
import { shaped } from "./client.ts";
import { UnknownOutcome } from "./failures.ts";
import { type GitHubRepository, refusedBy } from "./github-repository.ts";
import { succeeded } from "./repositories.ts";

type Published = Ordered<{ readonly url: string }>;

const releaseShape = z.looseObject({ html_url: z.string(), tag_name: z.string() });
const listedShape = releaseShape.extend({ draft: z.boolean().nullish() });
const errorsShape = z.looseObject({ errors: z.array(z.looseObject({ code: z.string().nullish() })) });

/**
 * Publishes the release of a tag. GitHub makes a missing tag by itself, at the commit given, and
 * ignores the commit where the tag is there. A release that is already published for the tag is a
 * success and left as it is.
 */
export async function publishRelease(
  repository: GitHubRepository,
  { tagName, sha, name, body }: ReleaseNotes,
): Promise<Published> {
  const find = (): Promise<Published | null> => findRelease(repository, tagName);
  return await repository.carryOut(async () => {
    const release = { tag_name: tagName, target_commitish: sha, name, body };
    const answer = await repository.write("POST /releases", release);
    if (answer.status < 300) return { ok: true, value: { url: shaped(releaseShape, answer).html_url } };
    if (!isTaken(answer.body)) return refusedBy(answer);
    const found = await find();
    if (found !== null) return found;
    if (await isDraft(repository, tagName)) return refusedBy(answer);
    throw new UnknownOutcome("GitHub has the release, but does not show it yet");
  }, find);
}

function isTaken(body: unknown): boolean {
  const parsed = errorsShape.safeParse(body);
  return parsed.success && parsed.data.errors.some(({ code }) => code === "already_exists");
}

/** Whether the newest releases have a draft with this tag, which only a listing shows. */
async function isDraft({ read }: GitHubRepository, tagName: string): Promise<boolean> {
  const answer = succeeded(await read("/releases", { per_page: 100 }));
  const listed = shaped(z.array(listedShape), answer);
  return listed.some((release) => release.draft === true && release.tag_name === tagName);
}

/** A published release; drafts are not shown here. */
async function findRelease({ read }: GitHubRepository, tagName: string): Promise<Published | null> {
  const answer = await read("/releases/tags/{tag}", { tag: tagName });
  if (answer.status === 404) return null;
  const { html_url: url, tag_name: found } = shaped(releaseShape, succeeded(answer));
  return found === tagName ? { ok: true, value: { url } } : null;
}
