import type { Api, ApiResponse, CallOptions } from "../api.ts";
import type { TestBoard } from "../world.ts";

export interface ReleaseResponse {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly frozenAt: string | null;
  readonly taskCount: number;
  readonly missingCount: number;
  readonly createdByName: string;
  readonly completedAt: string | null;
  readonly tags: readonly {
    readonly repositoryId: string;
    readonly fullName: string;
    readonly tagName: string;
    readonly sha: string;
    readonly url: string | null;
  }[];
  readonly cards: readonly {
    readonly number: number;
    readonly title: string;
    readonly statusId: string | null;
    readonly pickedAt: string | null;
    readonly isMissing: boolean;
  }[];
  readonly repositories: readonly {
    readonly repositoryId: string;
    readonly fullName: string;
    readonly branchName: string | null;
    readonly headSha: string | null;
    readonly holdsCards: boolean;
  }[];
}

/** Creates a release with these cards and returns its id. */
export async function makeRelease(
  api: Api,
  name: string,
  taskNumbers: readonly number[] = [],
): Promise<string> {
  const created = await api.post<ReleaseResponse>("/v1/releases", { name });
  if (created.status !== 201) throw new Error(`the release was not created: ${created.text}`);
  const { id } = created.body;
  if (taskNumbers.length > 0) {
    const scoped = await setCards(api, id, taskNumbers);
    if (scoped.status !== 204) throw new Error(`the cards were not added to the release: ${scoped.text}`);
  }
  return id;
}

export const readRelease = async (api: Api, id: string): Promise<ReleaseResponse> =>
  (await api.get<ReleaseResponse>(`/v1/releases/${id}`)).body;

export const setCards = (
  api: Api,
  id: string,
  taskNumbers: readonly unknown[],
  options?: CallOptions,
): Promise<ApiResponse> => api.put(`/v1/releases/${id}/cards`, { taskNumbers }, options);

export interface PromotionResponse {
  readonly promoted: readonly {
    readonly number: number;
    readonly statusId: string;
    readonly promoted: readonly unknown[];
  }[];
  readonly refused: readonly {
    readonly number: number;
    readonly repository: string | null;
    readonly reason: string;
    readonly message: string;
  }[];
  readonly skipped: readonly { readonly number: number; readonly reason: string }[];
  readonly pending: readonly number[];
  readonly operationId: string | null;
}

export const promote = (
  api: Api,
  id: string,
  body: { readonly statusId: string; readonly taskNumbers?: readonly number[] },
  options?: CallOptions,
): Promise<ApiResponse<PromotionResponse>> => api.post(`/v1/releases/${id}/promote`, body, options);

export const pick = (
  api: Api,
  id: string,
  taskNumber: number,
  options?: CallOptions,
): Promise<ApiResponse<ReleaseResponse & PickRefusal>> =>
  api.post(`/v1/releases/${id}/pick`, { taskNumber }, options);

export interface PickRefusal {
  readonly message: string;
  readonly repository?: string;
  readonly files?: readonly string[];
}

export const complete = (
  api: Api,
  id: string,
  versions: readonly {
    readonly repositoryId: string | undefined;
    readonly tagName: unknown;
    readonly prerelease?: boolean;
    readonly latest?: boolean;
    readonly notes?: string;
  }[],
  options?: CallOptions,
): Promise<ApiResponse<ReleaseResponse & { message: string }>> =>
  api.post(`/v1/releases/${id}/complete`, { versions }, options);

export const freeze = (api: Api, id: string, options?: CallOptions): Promise<ApiResponse<ReleaseResponse>> =>
  api.post(`/v1/releases/${id}/freeze`, undefined, options);

/** Creates a frozen release with these cards and returns its id. */
export async function frozenRelease(
  api: Api,
  name: string,
  taskNumbers: readonly number[] = [],
): Promise<string> {
  const id = await makeRelease(api, name, taskNumbers);
  const { status, text } = await freeze(api, id);
  if (status !== 200) throw new Error(`the release is not frozen: ${text}`);
  return id;
}

export const unfreeze = (
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<ApiResponse<ReleaseResponse>> => api.delete(`/v1/releases/${id}/freeze`, options);

/** The commit of a tag on the forge, or null. */
export async function tagOf(board: TestBoard, repository: string, tagName: string): Promise<string | null> {
  const path = `/repos/${board.owner}/${repository}/git/ref/tags/${tagName}`;
  const { status, body } = await board.person("ada", "GET", path);
  return status === 404 ? null : (body as { object: { sha: string } }).object.sha;
}
