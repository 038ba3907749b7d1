import { afterEach, beforeAll, expect, it } from "@jest/globals";
import { callsOf } from "../support/forge/count-calls.ts";
import { signedIn, type Person } from "../support/console/people.ts";
import { deleteBranch, pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let person: Person;
beforeAll(async () => {
  board = await world.board({ repositories: ["api", "web"] });
  person = await signedIn(world, [board], "viewer");
});
afterEach(() => world.forge.control.reset());

const pathOf = (projectId: string, name: string): string =>
  `/console/v1/projects/${projectId}/branches?name=${encodeURIComponent(name)}`;
const entry = (name: string, exists: boolean | null) => ({
  repositoryId: board.repositories[name],
  fullName: `${board.owner}/${name}`,
  exists,
});

async function expectFound(branch: string, inApi: boolean | null, inWeb: boolean | null): Promise<void> {
  const { status, body } = await person.browser.get(pathOf(board.projectId, branch));
  expect({ status, body }).toEqual({ status: 200, body: [entry("api", inApi), entry("web", inWeb)] });
}

it("a branch is looked for in each repository of the project, and found after it is pushed", async () => {
  expect(await callsOf(world, () => expectFound("main", true, true))).toEqual(["Inspect"]);
  await expectFound("release", false, false);
  await pushTo(board, "release", "release.txt", "ada", "api");
  await expectFound("release", true, false);
  await deleteBranch(board, "release");
  await expectFound("release", false, false);
  await expectFound("not a branch", false, false);
});

it.each([
  ["responds with an error", { kind: "response", status: 503 }],
  ["closes the connection", { kind: "reset" }],
] as const)("no branch counts as missing while GitHub %s", async (_, fault) => {
  world.forge.control.faults.add({ fault });
  await expectFound("missing", null, null);
});

it("no branch counts as missing in a repository that Trunkline cannot read", async () => {
  const { db } = board;
  const web = { id: board.repositories["web"] };
  await db("repositories").where(web).update({ connected: false });
  await expectFound("missing", false, null);
  await db("repositories").where(web).update({ connected: true });
});

it("the repositories of a project of another board are not found, and the name is required", async () => {
  const theirs = await world.board();
  expect((await person.browser.get(pathOf(theirs.projectId, "main"))).status).toBe(404);
  expect((await person.browser.get(pathOf(board.projectId, ""))).status).toBe(400);
});
