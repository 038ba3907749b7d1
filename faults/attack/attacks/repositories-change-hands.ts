import { syncInstallation } from "../../../src/actions/installations/sync-installation.ts";
import { firstValue } from "../../../src/store/db/connect.ts";
import { eventually } from "../../../test/support/api.ts";
import { headOf } from "../../../test/support/stories/merged-card.ts";
import { secondBoard, setRepositories } from "../../../test/support/stories/second-board.ts";
import { writeFile } from "../../../test/support/stories/work-on-card.ts";
import type { TestBoard } from "../../../test/support/world.ts";
import type { Scene } from "../scene.ts";

/** Moves repositories from one board of an organization to another, then uses the first board's old cards there. */
export async function repositoriesChangeHands(scene: Scene): Promise<void> {
  const { world } = scene;
  const first = world.boards.at(-1);
  if (!first) throw new Error("the attack needs a board");
  const second = await secondBoard(world.deps, first);
  for (let turn = 1; !scene.isOver(); turn++) {
    const name = `shared-${turn}`;
    const repositoryId = await newRepository(scene, first, name);
    const { number, branch } = await mergedThere(first, repositoryId, name);
    await setRepositories(first.api, first.projectId, Object.values(first.repositories));
    await setRepositories(second.api, second.projectId, [repositoryId]);
    scene.tried();
    await attackOldCard(scene, first, { number, branch, name });
  }
}

async function attackOldCard(
  scene: Scene,
  board: TestBoard,
  { number, branch, name }: { readonly number: number; readonly branch: string; readonly name: string },
): Promise<void> {
  const secret = `secret-of-${name}`;
  await writeFile(board, name, branch, `more-${name}.txt`, "more\n");
  const opened = await board.person("ada", "POST", `/repos/${board.owner}/${name}/pulls`, {
    title: `A pull request of the other board ${secret}`,
    head: branch,
    base: "main",
  });
  const pull = Number(opened.body["number"]);
  const issue = `/repos/${board.owner}/${name}/issues/${pull}/comments`;
  await board.person("grace", "POST", issue, { body: secret });
  await scene.world.forge.waitUntilIdle();
  const main = await headOf(board, name, "main");
  for (const stage of ["To do", "In progress", "In review", "Done"] as const) {
    await board.api.get(`/v1/cards/${number}/move-plan?statusId=${board.stages[stage]}`);
    await board.api.move(number, board.stages[stage]);
  }
  await board.api.post(`/v1/cards/${number}/comments`, { body: `From outside into ${name}` });
  await scene.world.forge.waitUntilIdle();
  if ((await headOf(board, name, "main")) !== main)
    scene.found(`card ${number} merged into ${name}, which belongs to another board`);
  for (const part of ["", "/timeline", "/checks", "/reviews"]) {
    const { text } = await board.api.get(`/v1/cards/${number}${part}`);
    if (text.includes(secret)) scene.found(`GET /v1/cards/${number}${part} shows ${name}: ${text}`);
  }
  const comments = (await board.person("ada", "GET", issue)).body as unknown as { body: string }[];
  if (comments.some(({ body }) => body.includes("From outside")))
    scene.found(`a comment on card ${number} was mirrored into ${name}, which belongs to another board`);
}

async function newRepository({ world }: Scene, board: TestBoard, name: string): Promise<string> {
  await world.forge.createRepository(board.owner, name, { files: { "README.md": `# ${name}\n` } });
  const { db } = world.deps;
  const installationId = await firstValue<number>(
    db,
    `select o.installation_id from organizations o join workspaces w on w.organization_id = o.id where w.id = :workspaceId`,
    { workspaceId: board.workspaceId },
  );
  await syncInstallation(world.deps, Number(installationId));
  const found = await eventually(
    async () => (await board.api.get<{ id: string; fullName: string }[]>("/v1/repositories")).body,
    (repositories) => repositories.some(({ fullName }) => fullName === `${board.owner}/${name}`),
  );
  const { id = "" } = found.find(({ fullName }) => fullName.endsWith(`/${name}`)) ?? {};
  return id;
}

async function mergedThere(
  board: TestBoard,
  repositoryId: string,
  name: string,
): Promise<{ number: number; branch: string }> {
  await setRepositories(board.api, board.projectId, [...Object.values(board.repositories), repositoryId]);
  const { number } = await board.api.card({ title: `Work in ${name}`, repositoryIds: [repositoryId] });
  await board.api.move(number, board.stages["In progress"]);
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  await writeFile(board, name, branch, "work.txt", "work\n");
  const merged = await board.api.move(number, board.stages.Done);
  if (merged.status !== 200) throw new Error(`the card is not merged: ${merged.text}`);
  return { number, branch };
}
