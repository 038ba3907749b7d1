import { eventually } from "../api.ts";
import type { Repository } from "./repositories.ts";
import type { TestBoard, TestWorld } from "../world.ts";

export interface Item {
  readonly id: string;
  readonly kind: string;
  readonly detail: string;
  readonly repository: string | null;
  readonly dismissible: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The account, its installation and its owner on the forge. */
export function onForge(world: Pick<TestWorld, "forge">, { owner }: TestBoard) {
  const { context } = world.forge;
  const [account] = context.state.accounts.inGroup(owner);
  const [installation] = context.state.installations.inGroup(account?.id ?? 0);
  const [by] = context.state.accounts.inGroup(`ada-${owner.slice(4)}`);
  if (!account || !by) throw new Error(`there is no account ${owner}`);
  return { context, account, by, installation: installation! };
}
export const repositoryOf = (world: TestWorld, board: TestBoard, name = "web") =>
  world.forge.context.state.repositories.need(world.forge.repository(`${board.owner}/${name}`).id);
export const brokenIn = async (board: TestBoard): Promise<Item[]> =>
  (await board.api.get<Item[]>("/v1/inbox")).body.filter(({ kind }) => kind === "connection_broken");
export const brokenWhen = (board: TestBoard, count: number): Promise<Item[]> =>
  eventually(
    () => brokenIn(board),
    ({ length }) => length === count,
  );
export const healthOf = async (board: TestBoard) =>
  (await board.api.get<(Repository & { health: Record<string, unknown> })[]>("/v1/repositories")).body[0]
    ?.health;
/** The service's calls with installation tokens. */
export const callsByBot = (world: TestWorld) =>
  world.forge.requests.all.filter(({ by }) => by !== null && by.endsWith("[bot]"));
