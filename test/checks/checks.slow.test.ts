import { afterEach, describe, expect, it } from "@jest/globals";
import type { ApiResponse } from "../support/api.ts";
import { openCard } from "../support/stories/open-card.ts";
import { settled } from "../support/database/database-content.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => world.forge.control.faults.clear());

interface Note {
  readonly path: string;
  readonly line: number;
  readonly level: string;
  readonly message: string;
}

interface Entry {
  readonly repository: string;
  readonly branchName: string;
  readonly runs:
    | readonly {
        readonly id: string;
        readonly name: string;
        readonly state: string;
        readonly url: string | null;
        readonly summary: string | null;
        readonly notes: readonly Note[];
      }[]
    | null;
  readonly error: string | null;
}

const checksOf = (board: TestBoard, number: number): Promise<ApiResponse<Entry[]>> =>
  board.api.get<Entry[]>(`/v1/cards/${number}/checks`);

async function report(board: TestBoard, repository: string, run: Record<string, unknown>): Promise<number> {
  const path = `/repos/${board.owner}/${repository}/check-runs`;
  const { status, body } = await board.person("ada", "POST", path, run);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return Number(body["id"]);
}

const annotation = (line: number, level = "failure") => ({
  path: "app.txt",
  start_line: line,
  end_line: line + 1,
  annotation_level: level,
  message: `wrong in line ${line}`,
});

/** A completed run. */
const completed = (head_sha: string, name: string, conclusion: string, output: object = {}) => ({
  name,
  head_sha,
  status: "completed",
  conclusion,
  output: { title: `${name} ${conclusion}`, summary: `All about ${name}`, ...output },
});

describe("GET /v1/cards/{number}/checks", () => {
  // Contract: Cards: A link has repository, branch, pull request, its state and checks state
  it("returns check runs and statuses of all repositories with one call to GitHub", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number, branchName, heads } = await openCard(world, board, ["web", "api"]);
    const web = heads["web"] ?? "";
    const annotations = [annotation(3), annotation(5, "warning"), annotation(7, "notice")];
    await report(board, "web", {
      ...completed(web, "test", "failure", { annotations }),
      details_url: "https://ci.example.com/1",
    });
    await report(board, "web", completed(web, "lint", "success", { annotations: [annotation(1, "notice")] }));
    await report(board, "web", completed(web, "docs", "skipped"));
    await report(board, "web", { name: "build", head_sha: web, status: "in_progress" });
    await board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${web}`, {
      state: "error",
      context: "deploy",
      description: "The preview did not come up",
      target_url: "https://deploy.example.com/1",
    });
    await settled(world);
    world.forge.requests.reset();

    const { status, body } = await checksOf(board, number);

    expect(status).toBe(200);
    expect(world.forge.requests.all.map(({ route }) => route)).toEqual(["POST /graphql"]);
    expect(body).toEqual([
      { repository: `${board.owner}/api`, branchName, runs: [], error: null },
      { repository: `${board.owner}/web`, branchName, runs: expect.any(Array), error: null },
    ]);
    expect(body[1]?.runs).toEqual([
      {
        id: expect.any(String),
        name: "test",
        state: "failing",
        url: "https://ci.example.com/1",
        summary: "All about test",
        notes: [
          { path: "app.txt", line: 3, level: "failure", message: "wrong in line 3" },
          { path: "app.txt", line: 5, level: "warning", message: "wrong in line 5" },
          { path: "app.txt", line: 7, level: "notice", message: "wrong in line 7" },
        ],
      },
      expect.objectContaining({ name: "lint", state: "passing", notes: [] }),
      expect.objectContaining({ name: "docs", state: "skipped", notes: [] }),
      expect.objectContaining({
        name: "build",
        state: "pending",
        summary: null,
        url: expect.stringMatching(/^http/),
      }),
      {
        id: expect.any(String),
        name: "deploy",
        state: "failing",
        url: "https://deploy.example.com/1",
        summary: "The preview did not come up",
        notes: [],
      },
    ]);
  });

  // Contract: Checks and reviews: Each repository with an open pull request has an entry
  it("reads from GitHub each time, and returns only the newest of repeated runs", async () => {
    const board = await world.board();
    const { number, heads } = await openCard(world, board);
    await report(board, "web", completed(heads["web"] ?? "", "test", "failure"));
    expect((await checksOf(board, number)).body[0]?.runs).toMatchObject([{ name: "test", state: "failing" }]);
    await report(board, "web", completed(heads["web"] ?? "", "test", "success"));
    expect((await checksOf(board, number)).body[0]?.runs).toMatchObject([{ name: "test", state: "passing" }]);
  });

  // Contract: Checks and reviews: Only failing runs have notes, at most 20 each
  it.each([
    [20, 20],
    [21, 20],
  ])("returns, of %d annotations of a failing run, %d notes", async (given, shown) => {
    const board = await world.board();
    const { number, heads } = await openCard(world, board);
    const annotations = Array.from({ length: given }, (_, at) => annotation(at + 1));
    await report(board, "web", completed(heads["web"] ?? "", "test", "failure", { annotations }));
    const notes = (await checksOf(board, number)).body[0]?.runs?.[0]?.notes;
    expect(notes?.map(({ line }) => line)).toEqual(Array.from({ length: shown }, (_, at) => at + 1));
  });

  it("returns only http URLs", async () => {
    const board = await world.board();
    const { number, heads } = await openCard(world, board);
    const sent = await board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${heads["web"]}`, {
      state: "success",
      context: "trap",
      target_url: "javascript:alert(1)",
    });
    expect(sent.status).toBe(201);
    expect((await checksOf(board, number)).body[0]?.runs).toMatchObject([{ name: "trap", url: null }]);
  });
});

describe("GET /v1/cards/{number}/checks without an open pull request", () => {
  // Contract: Checks and reviews: Without an open pull request the list is empty
  it("returns an empty list without a call to GitHub", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    await settled(world);
    world.forge.requests.reset();
    expect(await checksOf(board, number)).toMatchObject({ status: 200, body: [] });
    expect(world.forge.requests.all).toEqual([]);
  });

  it("returns an entry for an open pull request only", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const pull = `/repos/${board.owner}/web/pulls/1`;
    await board.person("ada", "PATCH", pull, { state: "closed" });
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "closed");
    expect((await checksOf(board, number)).body).toEqual([]);
    await board.person("ada", "PATCH", pull, { state: "open" });
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "open");
    expect((await checksOf(board, number)).body).toHaveLength(1);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    expect((await checksOf(board, number)).body).toEqual([]);
  });

  it.each([999, 0, -1])("returns 404 for the unknown card %d", async (number) => {
    const board = await world.board();
    expect(await checksOf(board, number)).toMatchObject({
      status: 404,
      body: { message: `There is no card ${number} on this board.` },
    });
  });
});

describe("a repository that cannot be read", () => {
  // Contract: Checks and reviews: A repository that cannot be read has `null` and an `error`
  it("has an error, and the entries of the others are complete", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number, branchName } = await openCard(world, board, ["web", "api"]);
    const { id } = world.forge.repository(`${board.owner}/web`);
    world.forge.context.state.repositories.delete(id);
    const { status, body } = await checksOf(board, number);
    expect(status).toBe(200);
    expect(body).toEqual([
      { repository: `${board.owner}/api`, branchName, runs: [], error: null },
      {
        repository: `${board.owner}/web`,
        branchName,
        runs: null,
        error: `Could not resolve to a Repository with the name '${board.owner}/web'.`,
      },
    ]);
  });

  it("has GitHub's message if its installation is suspended", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const match = { operation: "Checks" };
    const suspended = { message: "This installation has been suspended" };
    world.forge.control.faults.add({ match, fault: { kind: "response", status: 403, body: suspended } });
    expect((await checksOf(board, number)).body).toMatchObject([
      { runs: null, error: "This installation has been suspended" },
    ]);
  });

  it("causes no call to GitHub if its installation was deleted", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { db } = world.service.deps;
    await settled(world);
    await db("repositories")
      .where({ full_name: `${board.owner}/web` })
      .update({ connected: false });
    world.forge.requests.reset();
    expect((await checksOf(board, number)).body).toMatchObject([
      { runs: null, error: expect.stringContaining("no longer grants") },
    ]);
    expect(world.forge.requests.all).toEqual([]);
  });

  it.each([
    ["repeated 502s", { kind: "response", status: 502 }],
    ["a closed connection", { kind: "reset" }],
    ["HTML", { kind: "garble", as: "html" }],
    ["a truncated response", { kind: "garble", as: "truncated" }],
    ["a response without a field", { kind: "garble", as: "without", fields: ["pullRequest"] }],
    ["a response without ids", { kind: "garble", as: "without", fields: ["databaseId"] }],
    ["a rate limit", { kind: "rate-limit", limit: "primary", resetIn: 60 }],
  ] as const)("has an error after %s, without a long wait", async (_, fault) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.faults.add({ match: { operation: "Checks" }, fault });
    const { status, body } = await checksOf(board, number);
    expect(status).toBe(200);
    expect(body).toMatchObject([{ runs: null, error: expect.stringMatching(/\w+/) }]);
  });

  it("has no error after a single failure of GitHub", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const fault = { kind: "response", status: 502 } as const;
    world.forge.control.faults.add({ match: { operation: "Checks" }, fault, times: 1 });
    expect((await checksOf(board, number)).body).toMatchObject([{ runs: [], error: null }]);
  });

  it("has no error after it was renamed and another repository got its name", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.setWebhookUrl(null);
    await board.person("ada", "PATCH", `/repos/${board.owner}/web`, { name: "website" });
    world.forge.setWebhookUrl(world.service.webhookUrl);
    await world.forge.createRepository(board.owner, "web");
    expect((await checksOf(board, number)).body).toMatchObject([{ runs: [], error: null }]);
  });
});

it("GET /v1/cards/{number}/checks needs only the read scope and returns 404 on another board", async () => {
  const board = await world.board();
  const other = await world.board();
  const { number } = await openCard(world, board);
  const reader = await board.as({ role: "viewer", scopes: ["read"] });
  expect((await reader.get(`/v1/cards/${number}/checks`)).status).toBe(200);
  expect((await other.api.get(`/v1/cards/${number}/checks`)).status).toBe(404);
});
