import type { CommentRow } from "../../sandbox/forge/rows.ts";
import { uniqueText } from "./board-knowledge.ts";
import type { Action, RepositoryContext } from "./repository-actions.ts";

/** The action of hiding a comment, which a later check needs. */
export const HIDE_COMMENT = "hideComment";

export const editComment: Action = async (context) => {
  const comment = chooseComment(context);
  if (!comment) return;
  const body = uniqueText(context.own, "edited on the forge");
  await context.call("PATCH", `/issues/comments/${comment.id}`, { body });
};

export const deleteComment: Action = async (context) => {
  const comment = chooseComment(context);
  if (comment) await context.call("DELETE", `/issues/comments/${comment.id}`);
};

/** Hides a comment of a person or of Trunkline, which GitHub reports as an edit. */
export const hideComment: Action = async (context) => {
  const { world, login, own, pulls, random, ask, record } = context;
  const pull = random.pick(pulls.filter(({ state }) => state === "open"));
  if (pull && random.chance(0.5))
    await ask("POST", `/issues/${pull.number}/comments`, { body: uniqueText(own, "to be hidden") });
  const comment = chooseComment(context, () => true);
  if (!comment) return;
  await world.forge.webUi.hideComment(comment.id, `${login}-${own.board.owner.slice(4)}`);
  record({ commentId: comment.id, status: 200 });
};

/** A comment on a pull request; by default one that the person wrote. */
function chooseComment(
  { world, pulls, random, login, own }: RepositoryContext,
  isWanted = ({ userId }: CommentRow): boolean => {
    const author = world.forge.context.state.accounts.get(userId)?.login;
    return author === `${login}-${own.board.owner.slice(4)}`;
  },
): CommentRow | undefined {
  const { comments } = world.forge.context.state;
  return random.pick(pulls.flatMap(({ id }) => comments.inGroup(id)).filter(isWanted));
}
