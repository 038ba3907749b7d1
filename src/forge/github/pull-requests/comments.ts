import { z } from "zod";
import { inertText } from "../../../flow/inert-text.ts";
import type { CommentOrder } from "../../pull-requests.ts";
import type { ForgeResult } from "../../values.ts";
import { parseResponse } from "../calls/client.ts";
import { isWithoutResponse, orFallback, UnknownOutcome } from "../calls/failures.ts";
import { type GitHubRepository, READ_AFTER_MS, nothingToFind, refusedBy } from "../github-repository.ts";
import { allPages, PAGE, succeeded } from "../repositories.ts";

const COMMENTS = "/issues/{issue_number}/comments";
const COMMENT = "/issues/comments/{comment_id}";

const MARKDOWN = { isMarkdown: true };

type Written = ForgeResult<{ readonly commentId: number }>;
type FoundComment = ForgeResult<{ readonly commentId: number | null }>;

const NOT_FOUND: FoundComment = { ok: true, value: { commentId: null } };

const createdShape = z.looseObject({ id: z.number() });
const listedShape = z.looseObject({
  id: z.number(),
  body: z.string().nullish(),
  user: z.looseObject({ id: z.number() }).nullish(),
});

/** For the difference between the database's clock and GitHub's, whose times are whole seconds. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/**
 * GitHub accepts the same text any number of times, and reads may be stale. So a comment whose
 * response is lost is searched for, but not written again.
 */
export async function comment(repository: GitHubRepository, order: CommentOrder): Promise<FoundComment> {
  const found = order.isRetry ? await findComment(repository, order) : null;
  if (found !== null) return found;
  if (!order.mayWrite) return NOT_FOUND;
  const { number, body } = order;
  try {
    const response = await repository.write(`POST ${COMMENTS}`, { issue_number: number, body }, MARKDOWN);
    if (response.status >= 300) return refusedBy(response);
    return { ok: true, value: { commentId: parseResponse(createdShape, response).id } };
  } catch (error) {
    if (!(error instanceof UnknownOutcome)) throw error;
    await repository.clock.sleep(READ_AFTER_MS);
    return (await orFallback(findComment(repository, order), isWithoutResponse, null)) ?? NOT_FOUND;
  }
}

export async function editComment(
  { runWrite, write }: GitHubRepository,
  commentId: number,
  body: string,
): Promise<Written> {
  return await runWrite<Written>(async () => {
    const response = await write(`PATCH ${COMMENT}`, { comment_id: commentId, body }, MARKDOWN);
    if (response.status >= 300) return refusedBy(response);
    return { ok: true, value: { commentId: parseResponse(createdShape, response).id } };
  }, nothingToFind);
}

export async function hasComment({ read }: GitHubRepository, commentId: number): Promise<boolean> {
  const { status } = await read(COMMENT, { comment_id: commentId });
  return status !== 404 && status !== 410;
}

/** Updates an earlier attempt's comment. Ignores those of other authors, who may copy the mark. */
async function findComment(
  repository: GitHubRepository,
  { number, mark, body, firstAttemptAt }: CommentOrder,
): Promise<Written | null> {
  const since = new Date(Date.parse(firstAttemptAt) - CLOCK_MARGIN_MS).toISOString();
  const { botId } = await repository.identity();
  const isOurs = ({ user, body: text }: z.infer<typeof listedShape>): boolean =>
    user?.id === botId && text?.startsWith(mark) === true;
  const parameters = { issue_number: number, since: `${since.slice(0, 19)}Z`, per_page: PAGE };
  const listed = await allPages(
    (page) => repository.read(COMMENTS, { ...parameters, page }),
    (response) =>
      // The write will be refused, too, and returns the reason.
      [403, 404, 410].includes(response.status)
        ? []
        : parseResponse(z.array(listedShape), succeeded(response)),
    (comments) => comments.some(isOurs),
  );
  const found = listed.find(isOurs);
  if (found === undefined) return null;
  if (found.body === inertText(body, MARKDOWN)) return { ok: true, value: { commentId: found.id } };
  return await editComment(repository, found.id, body);
}
