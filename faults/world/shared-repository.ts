import type { Deps } from "../../src/actions/deps.ts";
import { syncInstallation } from "../../src/actions/installations/sync-installation.ts";
import { rows } from "../../src/store/db/connect.ts";
import type { RunningForge } from "../../sandbox/forge/start-forge.ts";
import { secondBoard } from "../../test/support/stories/second-board.ts";
import type { TestBoard } from "../../test/support/world.ts";

export const SHARED = "shared";

/** A board that the shared repository may belong to. */
export interface PossibleOwner {
  /** Names the board in the history. The second board of an organization is another tenant. */
  readonly name: string;
  readonly apiKey: string;
  readonly projectId: string;
  readonly stages: Readonly<Record<string, string>>;
  /** The organization, with its people. */
  readonly organization: TestBoard;
}

/** A repository that changes hands, and the boards that it may belong to; the first is its home. */
export interface SharedRepository {
  readonly forgeId: number;
  readonly possibleOwners: readonly [home: PossibleOwner, neighbor: PossibleOwner, foreign: PossibleOwner];
}

/** Creates the repository in the first board's organization, which gets a second board. */
export async function createShared(
  forge: RunningForge,
  deps: Deps,
  home: TestBoard,
  foreign: TestBoard,
): Promise<SharedRepository> {
  const second = await secondBoard(deps, home);
  await forge.createRepository(home.owner, SHARED, { files: { "README.md": "# shared\n" } });
  await syncInstallation(deps, installationIdOf(forge, home.owner));
  const possibleOwner = async (
    name: string,
    organization: TestBoard,
    { api, projectId }: Pick<TestBoard, "api" | "projectId">,
  ): Promise<PossibleOwner> => ({
    name,
    apiKey: api.apiKey,
    projectId,
    stages: await stagesOf(deps, projectId),
    organization,
  });
  return {
    forgeId: forge.repository(`${home.owner}/${SHARED}`).id,
    possibleOwners: [
      await possibleOwner(home.owner, home, home),
      await possibleOwner(`second-board-of-${home.owner}`, home, second),
      await possibleOwner(foreign.owner, foreign, foreign),
    ],
  };
}

export function installationIdOf({ context }: RunningForge, owner: string): number {
  const [account] = context.state.accounts.inGroup(owner);
  const [installation] = context.state.installations.inGroup(account?.id ?? 0);
  if (!installation) throw new Error(`${owner} has no installation`);
  return installation.id;
}

async function stagesOf({ db }: Deps, projectId: string): Promise<Record<string, string>> {
  const found = await rows<{ name: string; id: string }>(
    db,
    "select name, id from stages where project_id = :projectId",
    { projectId },
  );
  return Object.fromEntries(found.map(({ name, id }) => [name, id]));
}
