import type { Api, ApiAnswer, CallOptions } from "./api.ts";
import type { TestBoard } from "./world.ts";

/** A comment as the API answers it. */
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

/** A comment as the timeline tells it. */
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
): Promise<ApiAnswer<ApiComment>> => api.post(`/v1/cards/${number}/comments`, { body }, options);

export const editComment = (
  api: Api,
  number: number,
  id: string,
  body: unknown,
  options?: CallOptions,
): Promise<ApiAnswer<ApiComment>> => api.patch(`/v1/cards/${number}/comments/${id}`, { body }, options);

/** The comments on a card's timeline. */
export async function commentsOf(api: Api, number: number): Promise<TimelineComment[]> {
  const { body } = await api.get<TimelineComment[]>(`/v1/cards/${number}/timeline`);
  return body.filter(({ type }) => type === "comment");
}

/** The comments on a pull request, as people see them on the forge. */
export async function forgeComments(
  board: TestBoard,
  repository = "web",
  prNumber = 1,
): Promise<ForgeComment[]> {
  const path = `/repos/${board.owner}/${repository}/issues/${prNumber}/comments?per_page=100`;
  return (await board.person("ada", "GET", path)).body as unknown as ForgeComment[];
}

/** Writes a comment on a pull request as a person, and gives its id. */
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
