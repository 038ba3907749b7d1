import type { Db } from "../../../src/store/db/connect.ts";
import { eventually, type Api, type ApiResponse, type CallOptions } from "../api.ts";
import { runDeferredJobsIn } from "./deferred-jobs.ts";
import type { TestBoard, TestWorld } from "../world.ts";

/** A comment of the API. */
export interface ApiComment {
  readonly id: string;
  readonly body: string;
  readonly author: {
    readonly user: { readonly id: string; readonly name: string; readonly kind: string };
    readonly login: string | null;
  };
  readonly mirroredTo: number;
  readonly editable: boolean;
  readonly at: string;
  readonly editedAt: string | null;
}

/** A comment on the timeline. */
export type TimelineComment = Omit<ApiComment, "mirroredTo"> & { readonly type: "comment" };

/** A comment on the forge. */
export interface ForgeComment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly login: string };
}

export const writeComment = (
  api: Api,
  number: number,
  body: unknown,
  options?: CallOptions,
): Promise<ApiResponse<ApiComment>> => api.post(`/v1/cards/${number}/comments`, { body }, options);

export const editComment = (
  api: Api,
  number: number,
  id: string,
  body: unknown,
  options?: CallOptions,
): Promise<ApiResponse<ApiComment>> => api.patch(`/v1/cards/${number}/comments/${id}`, { body }, options);

/** The comments on a card's timeline. */
export async function commentsOf(api: Api, number: number): Promise<TimelineComment[]> {
  const { body } = await api.get<TimelineComment[]>(`/v1/cards/${number}/timeline`);
  return body.filter(({ type }) => type === "comment");
}

/** The comments on a pull request on the forge. */
export async function forgeComments(
  board: TestBoard,
  repository = "web",
  prNumber = 1,
): Promise<ForgeComment[]> {
  const path = `/repos/${board.owner}/${repository}/issues/${prNumber}/comments?per_page=100`;
  return (await board.person("ada", "GET", path)).body as unknown as ForgeComment[];
}

/** Writes a comment on a pull request as a user and returns its id. */
export async function commentOnForge(
  board: TestBoard,
  login: "ada" | "grace",
  body: string,
  prNumber = 1,
): Promise<number> {
  const path = `/repos/${board.owner}/web/issues/${prNumber}/comments`;
  const made = await board.person(login, "POST", path, { body });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return Number(made.body["id"]);
}

/** The invisible mark at the start of a mirrored comment. */
export const MARK = /^<!-- trunkline:comment [0-9a-f-]{36} [\w-]{43} -->\n\n/;

/** A card's comment by the board's credential, as it is on the forge. */
export const shown = (text: string, number = 1): string =>
  `**maintainer agent** on card ${number}:\n\n${text}`;

/** The visible text of mirrored comments. */
export async function mirrorsOf(
  world: TestWorld,
  board: TestBoard,
  repository = "web",
  prNumber = 1,
): Promise<string[]> {
  const found = await forgeComments(board, repository, prNumber);
  return found
    .filter(({ user }) => user.login === `${world.forge.app.slug}[bot]`)
    .map(({ body }) => body.replace(MARK, ""));
}

/** Ends the time in which reads may lag; mirrors without a response may then be written again. */
export async function endStaleReads(db: Db): Promise<void> {
  await db("comment_mirrors")
    .whereNotNull("unsure_since")
    .update({ unsure_since: db.raw("now() - interval '2 minutes'") });
}

/** Runs the next attempt to mirror a comment to its end, if it is not shown. The process of the last attempt may have died. */
export async function runNextAttempt(db: Db, commentId: string): Promise<void> {
  const mirrors = () => db("comment_mirrors").where({ comment_id: commentId });
  const { tries } = await mirrors().first();
  await mirrors().update({ held_until: null });
  await runDeferredJobsIn(db);
  await eventually(
    () => mirrors().first(),
    (mirror) => mirror.held_until === null && (mirror.tries > tries || mirror.shown_revision !== null),
  );
}

/** The number of pull requests without the current text of a comment. */
export async function dueMirrors(world: TestWorld, commentId: string): Promise<number> {
  const due = await world.service.deps
    .db("comment_mirrors")
    .where({ comment_id: commentId, shown_revision: null });
  return due.length;
}

/** Waits until all mirrors of a comment have its current text. */
export const untilMirrored = (world: TestWorld, commentId: string): Promise<number> =>
  eventually(
    () => dueMirrors(world, commentId),
    (due) => due === 0,
  );
