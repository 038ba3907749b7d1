import { beforeAll, expect, it } from "@jest/globals";
import { signedIn, type Person } from "../support/console/people.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

interface Shown {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly dangling: readonly string[];
  readonly links: readonly { readonly target: string; readonly slug: string }[];
}

const world = useWorld();
let board: TestBoard;
let viewer: Person;
beforeAll(async () => {
  board = await world.board();
  viewer = await signedIn(world, [board], "viewer");
});

const create = async (title: string, body = ""): Promise<Shown> =>
  (await board.api.post<Shown>("/v1/docs", { title, body })).body;
const open = async (slug: string, person = viewer) => {
  const response = await person.browser.get(`/console/v1/pages/${encodeURIComponent(slug)}`);
  return { status: response.status, page: response.body as Shown };
};

it("a page is found by its slug, an earlier slug, and its title", async () => {
  const { id } = await create("How we ship?");
  await board.api.patch(`/v1/docs/${id}`, { title: "How we deliver" });
  for (const address of ["how-we-deliver", "how-we-ship", "How we DELIVER", "How we ship?"]) {
    const { status, page } = await open(address);
    expect([status, page.id, page.slug]).toEqual([200, id, "how-we-deliver"]);
  }
  const next = await create("How we ship");
  expect((await open("how-we-ship")).page.id).toBe(next.id);
});

it("its links have the text of the target and the slug that it leads to", async () => {
  await create("Runbook");
  const { slug } = await create("Links", "[[Runbook]], [[RUNBOOK|the book]], [[Nowhere & co]], `[[Code]]`");
  const { page } = await open(slug);
  expect(page.links).toEqual([
    { target: "Runbook", slug: "runbook" },
    { target: "RUNBOOK", slug: "runbook" },
    { target: "Nowhere & co", slug: "nowhere-co" },
  ]);
  expect(page.dangling).toEqual(["nowhere-co"]);
});

it("a link to a heading has the page's slug, and its address leads to the page", async () => {
  const { id } = await create("Deploy guide");
  const { slug } = await create("Headings", "[[Deploy guide#Rollback]], [[C# notes]], [[#Here]]");
  expect((await open(slug)).page.links).toEqual([
    { target: "Deploy guide#Rollback", slug: "deploy-guide" },
    { target: "C# notes", slug: "c-notes" },
  ]);
  expect((await open("Deploy-guide#Rollback")).page.id).toBe(id);
  const { id: sharp } = await create("C# notes");
  expect((await open("C-notes")).page.id).toBe(sharp);
});

it("a page of another board is not found", async () => {
  const { slug } = await create("Only ours");
  const stranger = await signedIn(world, [await world.board()], "maintainer");
  expect((await open(slug, stranger)).status).toBe(404);
  expect((await open("never-written")).status).toBe(404);
});
