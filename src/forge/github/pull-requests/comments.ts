import { z } from "zod";
import type { CommentOrder } from "../../pull-requests.ts";
import type { Ordered } from "../../values.ts";
import { shaped } from "../calls/client.ts";
import { isUnanswered, recovered, UnknownOutcome } from "../calls/failures.ts";
import { type GitHubRepository, LOOK_AFTER_MS, nothingToFind, refusedBy } from "../github-repository.ts";
import { succeeded } from "../repositories.ts";

const COMMENTS = "/issues/{issue_number}/comments";
const COMMENT = "/issues/comments/{comment_id}";

type Written = Ordered<{ readonly commentId: number }>;
type Sought = Ordered<{ readonly commentId: number | null }>;

const NOT_SEEN: Sought = { ok: true, value: { commentId: null } };

const madeShape = z.looseObject({ id: z.number() });
const listedShape = z.looseObject({
  id: z.number(),
  body: z.string().nullish(),
  user: z.looseObject({ id: z.number() }).nullish(),
});

const PAGE = 100;
const MAX_PAGES = 20;
/** The database's clock and GitHub's may differ, and its times are whole seconds. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/**
 * Writes a comment on a pull request's conversation, which GitHub calls an issue comment. GitHub
 * takes any number of them with the same text and a read may show what was there before a write, so
 * one whose answer is lost is looked for, and left at that.
 */
export async function comment(repository: GitHubRepository, order: CommentOrder): Promise<Sought> {
  const found = order.isRepeated ? await findComment(repository, order) : null;
  if (found !== null) return found;
  if (!order.mayWrite) return NOT_SEEN;
  const { number, body } = order;
  try {
    const answer = await repository.write(`POST ${COMMENTS}`, { issue_number: number, body });
    if (answer.status >= 300) return refusedBy(answer);
    return { ok: true, value: { commentId: shaped(madeShape, answer).id } };
  } catch (error) {
    if (!(error instanceof UnknownOutcome)) throw error;
    await repository.clock.sleep(LOOK_AFTER_MS);
    return (await recovered(findComment(repository, order), isUnanswered, null)) ?? NOT_SEEN;
  }
}

/** Makes a comment read as given; doing it twice does no harm, so nothing is looked for before it is repeated. */
export async function editComment(
  { carryOut, write }: GitHubRepository,
  commentId: number,
  body: string,
): Promise<Written> {
  return await carryOut<Written>(async () => {
    const answer = await write(`PATCH ${COMMENT}`, { comment_id: commentId, body });
    if (answer.status >= 300) return refusedBy(answer);
    return { ok: true, value: { commentId: shaped(madeShape, answer).id } };
  }, nothingToFind);
}

/** Whether a comment is there; a repository that shows nothing says nothing of its comments. */
export async function hasComment({ read }: GitHubRepository, commentId: number): Promise<boolean> {
  const { status } = await read(COMMENT, { comment_id: commentId });
  return status !== 404 && status !== 410;
}

/** What an earlier try wrote, brought up to date; somebody else's comment with a copied mark is none of ours. */
async function findComment(
  repository: GitHubRepository,
  { number, mark, body, triedSince }: CommentOrder,
): Promise<Written | null> {
  const since = new Date(Date.parse(triedSince) - CLOCK_MARGIN_MS).toISOString();
  const { botId } = await repository.identity();
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await repository.read(COMMENTS, {
      issue_number: number,
      since: `${since.slice(0, 19)}Z`,
      per_page: PAGE,
      page,
    });
    // A pull request that cannot be read cannot be written to: the order itself brings the reason.
    if ([403, 404, 410].includes(answer.status)) return null;
    const listed = shaped(z.array(listedShape), succeeded(answer));
    const found = listed.find(({ user, body: text }) => user?.id === botId && text?.startsWith(mark));
    if (found?.body === body) return { ok: true, value: { commentId: found.id } };
    if (found !== undefined) return await editComment(repository, found.id, body);
    if (listed.length < PAGE) break;
  }
  return null;
}
