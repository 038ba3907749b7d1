import { z } from "zod";
import {
  type CommentOrder,
  type ForgeIdentity,
  ForgeUnavailable,
  type Ordered,
  type RepositoryRef,
} from "../forge.ts";
import type { CarryOut } from "./carry-out.ts";
import { type Caller, shaped } from "./client.ts";
import type { ForgeClock } from "./clock.ts";
import { InstallationRefused, UnknownOutcome } from "./failures.ts";
import { refusalOf } from "./refusals.ts";
import { REPOSITORY, succeeded } from "./repositories.ts";

type CommentResult = Ordered<{ readonly commentId: number }>;
type Sought = Ordered<{ readonly commentId: number | null }>;

const NOT_SEEN: Sought = { ok: true, value: { commentId: null } };

const madeShape = z.looseObject({ id: z.number() });
const listedShape = z.looseObject({
  id: z.number(),
  body: z.string().nullish(),
  user: z.looseObject({ id: z.number() }).nullish(),
});
type Listed = z.infer<typeof listedShape>;

const PAGE = 100;
const MAX_PAGES = 20;
/** The database's clock and GitHub's may differ, and its times are whole seconds. */
const CLOCK_MARGIN_MS = 10 * 60_000;
/** GitHub may still be at work when its own gateway has given up. */
const LOOK_AFTER_MS = 500;

interface CommentDeps {
  readonly caller: Caller;
  readonly carryOut: CarryOut;
  readonly clock: ForgeClock;
  readonly identity: () => Promise<ForgeIdentity>;
}

/**
 * Writes a comment on a pull request's conversation, which GitHub calls an issue comment. GitHub takes any number of them with the same text and
 * a read may show what was there before a write, so one whose answer is lost is looked for, and left at that.
 */
export async function comment(
  deps: CommentDeps,
  repository: RepositoryRef,
  order: CommentOrder,
): Promise<Sought> {
  const { caller, clock } = deps;
  const since = Date.parse(order.triedSince) - CLOCK_MARGIN_MS;
  const find = () => findComment(deps, repository, order, since);
  const found = order.isRepeated ? await find() : null;
  if (found !== null) return found;
  if (!order.mayWrite) return NOT_SEEN;
  try {
    const answer = await caller.write(`POST ${REPOSITORY}/issues/{issue_number}/comments`, {
      repository_id: repository.forgeId,
      issue_number: order.number,
      body: order.body,
    });
    if (answer.status >= 300) return { ok: false, refusal: refusalOf(answer.status, answer.body) };
    return { ok: true, value: { commentId: shaped(madeShape, answer).id } };
  } catch (error) {
    if (!(error instanceof UnknownOutcome)) throw error;
    await clock.sleep(LOOK_AFTER_MS);
    return (await find().catch(nothingSeen)) ?? NOT_SEEN;
  }
}

/** What cannot be looked for now is not seen. */
function nothingSeen(error: unknown): null {
  if (error instanceof ForgeUnavailable || error instanceof InstallationRefused) return null;
  throw error;
}

/** Makes a comment read as given; doing it twice does no harm, so nothing is looked for before it is repeated. */
export async function editComment(
  { caller, carryOut }: Pick<CommentDeps, "caller" | "carryOut">,
  repository: RepositoryRef,
  commentId: number,
  body: string,
): Promise<CommentResult> {
  return await carryOut(
    async () => {
      const answer = await caller.write(`PATCH ${REPOSITORY}/issues/comments/{comment_id}`, {
        repository_id: repository.forgeId,
        comment_id: commentId,
        body,
      });
      if (answer.status >= 300) return { ok: false, refusal: refusalOf(answer.status, answer.body) };
      return { ok: true, value: { commentId: shaped(madeShape, answer).id } };
    },
    () => Promise.resolve(null),
  );
}

/** Whether a comment is there; a repository that shows nothing says nothing of its comments. */
export async function hasComment(
  caller: Caller,
  repository: RepositoryRef,
  commentId: number,
): Promise<boolean> {
  const answer = await caller.read(`GET ${REPOSITORY}/issues/comments/{comment_id}`, {
    repository_id: repository.forgeId,
    comment_id: commentId,
  });
  return answer.status !== 404 && answer.status !== 410;
}

/** What an earlier try wrote, brought up to date; somebody else's comment with a copied mark is none of ours. */
async function findComment(
  deps: CommentDeps,
  repository: RepositoryRef,
  { number, mark, body }: CommentOrder,
  since: number,
): Promise<CommentResult | null> {
  const { botId } = await deps.identity();
  const isOurs = (listed: Listed) => listed.user?.id === botId && (listed.body ?? "").startsWith(mark);
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await deps.caller.read(`GET ${REPOSITORY}/issues/{issue_number}/comments`, {
      repository_id: repository.forgeId,
      issue_number: number,
      since: `${new Date(since).toISOString().slice(0, 19)}Z`,
      per_page: PAGE,
      page,
    });
    // A pull request that cannot be read cannot be written to: the order itself is told why.
    if ([403, 404, 410].includes(answer.status)) return null;
    const listed = shaped(z.array(listedShape), succeeded(answer));
    const found = listed.find(isOurs);
    if (found?.body === body) return { ok: true, value: { commentId: found.id } };
    if (found !== undefined) return await editComment(deps, repository, found.id, body);
    if (listed.length < PAGE) break;
  }
  return null;
}
