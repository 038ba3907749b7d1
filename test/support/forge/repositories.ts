import { eventually, type Api } from "../api.ts";
import type { TestBoard, TestWorld } from "../world.ts";

export interface Repository {
  readonly id: string;
  readonly fullName: string;
  readonly linkByDefault: boolean;
  readonly connected: boolean;
  readonly projectId: string | null;
}

export const granted = async (api: Api): Promise<Repository[]> =>
  (await api.get<Repository[]>("/v1/repositories")).body;
export const ofProject = async (board: TestBoard, projectId = board.projectId): Promise<Repository[]> =>
  (await board.api.get<Repository[]>(`/v1/projects/${projectId}/repositories`)).body;
export const putRepositories = (board: TestBoard, repositories: unknown, projectId = board.projectId) =>
  board.api.put<Repository[] & { message: string }>(`/v1/projects/${projectId}/repositories`, {
    repositories,
  });
export const shortNames = (repositories: readonly Repository[]): (string | undefined)[] =>
  repositories.map(({ fullName }) => fullName.split("/")[1]);
export const linksOf = async (board: TestBoard, number: number): Promise<(string | undefined)[]> =>
  (await board.api.readCard(number)).repositories.map(({ fullName }) => fullName.split("/")[1]);
export const kindsOf = async (board: TestBoard, number: number): Promise<string[]> =>
  (await board.api.timeline(number)).map(({ kind }) => kind);

/** A board with two repositories, `web` linked by default, and their ids. */
export async function webAndApi(world: TestWorld) {
  const board = await world.board({ repositories: ["web", "api"] });
  const { web = "", api = "" } = board.repositories;
  const relink = (number: number, repositoryIds: readonly string[]) =>
    board.api.patch(`/v1/cards/${number}`, { repositoryIds });
  return { board, web, api, relink };
}

/** Pushes a commit to a card's branch and waits for its pull request. */
export async function work(board: TestBoard, number: number, repository = "web"): Promise<void> {
  const link = async () =>
    (await board.api.readCard(number)).repositories.find(({ fullName }) =>
      fullName.endsWith(`/${repository}`),
    );
  const clone = await board.clone("ada", repository);
  await clone.checkoutKnown((await link())?.branchName ?? "");
  await clone.commit("Work", { [`${number}.txt`]: "work\n" });
  await clone.push();
  await clone.remove();
  await eventually(link, (now) => now?.prNumber !== null);
}

export async function makeProject(board: TestBoard, name: string): Promise<string> {
  const created = await board.api.post("/v1/projects", { name });
  return String(created.body["id"]);
}
