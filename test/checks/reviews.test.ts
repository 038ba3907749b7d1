import { afterEach, describe, expect, it } from "@jest/globals";
import type { ApiResponse } from "../support/api.ts";
import { openCard } from "../support/stories/open-card.ts";
import { settled } from "../support/database/database-content.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => world.forge.control.faults.clear());

interface Entry {
  readonly repository: string;
  readonly prNumber: number;
  readonly reviews: readonly { author: string; state: string; body: string }[] | null;
  readonly error: string | null;
}

const reviewsOf = (board: TestBoard, number: number): Promise<ApiResponse<Entry[]>> =>
  board.api.get<Entry[]>(`/v1/cards/${number}/reviews`);

async function review(
  board: TestBoard,
  repository: string,
  fields: { event?: "APPROVE" | "REQUEST_CHANGES" | "COMMENT"; body: string },
  prNumber = 1,
): Promise<number> {
  const path = `/repos/${board.owner}/${repository}/pulls/${prNumber}/reviews`;
  const { status, body } = await board.person("grace", "POST", path, fields);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return Number(body["id"]);
}

describe("GET /v1/cards/{number}/reviews", () => {
  // Contract: Checks and reviews: Each repository with an open pull request has an entry
  it("returns the reviews of all repositories, oldest first, with one call to GitHub", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number } = await openCard(world, board, ["web", "api"]);
    const author = `grace-${board.owner.slice(4)}`;
    await review(board, "web", { event: "COMMENT", body: "Reading" });
    await review(board, "web", { event: "REQUEST_CHANGES", body: "Please say *goodbye* too" });
    await review(board, "web", { event: "APPROVE", body: "" });
    await review(board, "api", { event: "APPROVE", body: "Fine" });
    await settled(world);
    world.forge.requests.reset();

    const { status, body } = await reviewsOf(board, number);

    expect(status).toBe(200);
    expect(world.forge.requests.all.map(({ route }) => route)).toEqual(["POST /graphql"]);
    expect(body).toEqual([
      {
        repository: `${board.owner}/api`,
        prNumber: 1,
        reviews: [{ author, state: "approved", body: "Fine" }],
        error: null,
      },
      {
        repository: `${board.owner}/web`,
        prNumber: 1,
        reviews: [
          { author, state: "commented", body: "Reading" },
          { author, state: "changes_requested", body: "Please say *goodbye* too" },
          { author, state: "approved", body: "" },
        ],
        error: null,
      },
    ]);
  });

  it("are read once for concurrent and repeated calls, and again after a webhook about the card", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await settled(world);
    world.forge.requests.reset();
    const plan = () => board.api.get(`/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`);
    const checks = () => board.api.get(`/v1/cards/${number}/checks`);
    const often = <T>(read: () => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: 20 }, () => read()));
    for (const read of [() => reviewsOf(board, number), checks, plan]) {
      const responses = await often<{ readonly text: string }>(read);
      expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    }
    expect(world.forge.requests.all).toHaveLength(3);
    await review(board, "web", { event: "APPROVE", body: "Now" });
    await settled(world);
    world.forge.requests.reset();
    const after = await often(() => reviewsOf(board, number));
    expect(after.map(({ body }) => body[0]?.reviews?.length)).toEqual(after.map(() => 1));
    expect(world.forge.requests.all).toHaveLength(1);
  });

  it("returns dismissed reviews, but no pending ones", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const id = await review(board, "web", { event: "REQUEST_CHANGES", body: "No" });
    const path = `/repos/${board.owner}/web/pulls/1/reviews/${id}/dismissals`;
    expect((await board.person("ada", "PUT", path, { message: "It is fine" })).status).toBe(200);
    await review(board, "web", { body: "Pending" });
    expect((await reviewsOf(board, number)).body).toMatchObject([
      { reviews: [{ state: "dismissed", body: "No" }] },
    ]);
  });

  it("returns those of the newest pull request if several are open", async () => {
    const board = await world.board();
    const { number, branchName } = await openCard(world, board);
    await world.forge.commit(`${board.owner}/web`, "next", { "next.txt": "next\n" }, { from: "main" });
    const second = await board.person("ada", "POST", `/repos/${board.owner}/web/pulls`, {
      title: "Say hello in the next one",
      head: branchName,
      base: "next",
    });
    expect(second.status).toBe(201);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prNumber === 2);
    await review(board, "web", { event: "COMMENT", body: "The second" }, 2);
    expect((await reviewsOf(board, number)).body).toMatchObject([
      { prNumber: 2, reviews: [{ body: "The second" }] },
    ]);
  });
});

describe("GET /v1/cards/{number}/reviews without an open pull request", () => {
  it("returns an empty list without a call to GitHub", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ repositoryIds: [] });
    await settled(world);
    world.forge.requests.reset();
    expect(await reviewsOf(board, number)).toMatchObject({ status: 200, body: [] });
    expect(world.forge.requests.all).toEqual([]);
  });

  // Contract: Cards: An unknown card number is 404
  it("returns 404 for an unknown card", async () => {
    const board = await world.board();
    expect((await reviewsOf(board, 1)).status).toBe(404);
  });
});

describe("a repository that cannot be read", () => {
  // Contract: Checks and reviews: A repository that cannot be read has `null` and an `error`
  it("has an error, and the entries of the others are complete", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number } = await openCard(world, board, ["web", "api"]);
    world.forge.context.state.repositories.delete(world.forge.repository(`${board.owner}/web`).id);
    expect((await reviewsOf(board, number)).body).toEqual([
      { repository: `${board.owner}/api`, prNumber: 1, reviews: [], error: null },
      {
        repository: `${board.owner}/web`,
        prNumber: 1,
        reviews: null,
        error: `Could not resolve to a Repository with the name '${board.owner}/web'.`,
      },
    ]);
  });
});
