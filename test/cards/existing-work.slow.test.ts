import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import { eventually, type ApiCard } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { readInbox } from "../support/inbox.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { cardWithCommit, deleteBranch, loginOf, openPull, pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => world.forge.control.faults.clear());
afterEach(() => leaveConsistent(world));

const webOf = ({ repositories }: TestBoard): string => repositories["web"] ?? "";
const link = (board: TestBoard, card: number, body: object, key = `link-${randomUUID()}`) =>
  board.api.put<{ message: string } & ApiCard>(`/v1/cards/${card}/repositories/${webOf(board)}`, body, {
    key,
  });
const create = (board: TestBoard, body: object, key = `make-${randomUUID()}`) =>
  board.api.post<{ message: string } & ApiCard>("/v1/cards", body, { key });

interface Listed {
  readonly number: number;
  readonly cardNumber: number | null;
}
const listPulls = async (board: TestBoard, query = ""): Promise<readonly Listed[]> =>
  (await board.api.get<readonly Listed[]>(`/v1/repositories/${webOf(board)}/pull-requests${query}`)).body;

describe("GET /v1/repositories/{repositoryId}/pull-requests", () => {
  it("lists the open pull requests with the cards that own their branches", async () => {
    const board = await world.board();
    const { number } = await cardWithCommit(board);
    const other = await openPull(board, "french", { title: "Say it in French", draft: true });
    const closed = await openPull(board, "german");
    await board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/${closed}`, { state: "closed" });
    expect(await listPulls(board)).toMatchObject([
      {
        number: other,
        title: "Say it in French",
        author: loginOf(board, "ada"),
        isDraft: true,
        headBranch: "french",
        isFromFork: false,
        targetBranch: "main",
        url: expect.stringContaining(`/web/pull/${other}`),
        cardNumber: null,
      },
      { number: 1, cardNumber: number },
    ]);
    expect((await listPulls(board, "?linked=false")).map((each) => each.number)).toEqual([other]);
    expect((await listPulls(board, "?state=open&linked=true")).map((each) => each.number)).toEqual([1]);
  });

  it("has pages, and many reads at once cause one call to GitHub", async () => {
    const board = await world.board();
    for (const head of ["one", "two", "three"]) await openPull(board, head);
    world.forge.requests.reset();
    const path = `/v1/repositories/${webOf(board)}/pull-requests`;
    const [first] = await Promise.all(
      Array.from({ length: 20 }, () => board.api.get<readonly Listed[]>(`${path}?limit=2`)),
    );
    const next = /<(.*)>; rel="next"/.exec(first?.headers.get("link") ?? "")?.[1] ?? "";
    const second = await board.api.get<readonly Listed[]>(next);
    expect([first?.body, second.body].map((page) => page?.map(({ number }) => number))).toEqual([
      [3, 2],
      [1],
    ]);
    expect(second.headers.get("link")).toBeNull();
    expect(world.forge.requests.all.map(({ route }) => route)).toEqual(["GET /repos/{owner}/{repo}/pulls"]);
  });
});

describe("PUT /v1/cards/{number}/repositories/{repositoryId}", () => {
  it.each([
    ["prNumber", (prNumber: number) => ({ prNumber })],
    ["branchName", () => ({ branchName: "french" })],
  ])("gives the card the branch with its open pull request, named by %s", async (_, bodyOf) => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "French", repositoryIds: [] });
    const prNumber = await openPull(board, "french");
    const key = `link-${randomUUID()}`;
    const linked = await link(board, number, bodyOf(prNumber), key);
    expect([linked.status, linked.body.repositories]).toMatchObject([
      200,
      [{ branchName: "french", prNumber, prState: "open" }],
    ]);
    expect((await link(board, number, bodyOf(prNumber), key)).headers.get("idempotent-replay")).toBe("true");
    expect((await link(board, number, bodyOf(prNumber))).status).toBe(200);
    expect(await kindsOf(board, number)).toEqual(["created", "repository_linked", "branch_adopted"]);
    const later = await pushTo(board, "french", "more.txt", "grace");
    expect(await board.api.eventWhen(number, ({ kind }) => kind === "pushed")).toMatchObject({
      data: { after: later },
    });
    expect((await board.api.move(number, board.stages.Done)).body).toMatchObject({
      promoted: [{ prNumber }],
    });
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("returns 409 for what no card can own, and changes nothing", async () => {
    const board = await world.board();
    const owner = await cardWithCommit(board);
    const { number } = await board.api.card();
    const closed = await openPull(board, "german");
    await board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/${closed}`, { state: "closed" });
    const before = await board.api.readCard(number);
    const web = `${board.owner}/web`;
    const attempts: [object, number, string][] = [
      [
        { branchName: owner.branchName },
        409,
        `The branch ${owner.branchName} in ${web} belongs to another card already.`,
      ],
      [
        { branchName: "main" },
        409,
        `main is a branch of ${web} that cards are merged into, so no card can own it. Link a branch with the work of one card.`,
      ],
      [{ branchName: "nowhere" }, 409, `${web} has no branch nowhere. Push it, and make the call again.`],
      [{ prNumber: closed }, 409, `Pull request #${closed} of ${web} is closed.`],
      [{ prNumber: 99 }, 404, `${web} has no pull request #99.`],
      [{}, 400, "body: must have either branchName or prNumber"],
      [{ branchName: "german", prNumber: closed }, 400, "body: must have either branchName or prNumber"],
    ];
    for (const [body, status, message] of attempts) {
      const refused = await link(board, number, body);
      expect([refused.status, refused.body.message]).toEqual([status, message]);
    }
    expect(await board.api.readCard(number)).toEqual(before);
    const second = await link(board, owner.number, { branchName: "german" });
    expect([second.status, second.body.message]).toEqual([
      409,
      `Card ${owner.number} has the branch ${owner.branchName} in ${web} already.`,
    ]);
  });

  it("gives one of two cards the branch that both ask for", async () => {
    const board = await world.board();
    const cards = [await board.api.card(), await board.api.card()];
    await openPull(board, "french");
    const answers = await Promise.all(
      cards.map(({ number }) => link(board, number, { branchName: "french" })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });
});

describe("DELETE /v1/cards/{number}/repositories/{repositoryId}", () => {
  it("takes the branch from the card and leaves GitHub alone, so another card can have it", async () => {
    const board = await world.board();
    const { number, branchName } = await cardWithCommit(board);
    const path = `/v1/cards/${number}/repositories/${webOf(board)}`;
    expect((await board.api.delete(path)).status).toBe(204);
    expect((await board.api.delete(path)).status).toBe(404);
    expect((await board.api.readCard(number)).repositories).toEqual([]);
    expect((await kindsOf(board, number)).filter((kind) => kind === "repository_unlinked")).toHaveLength(1);
    const other = await board.api.card();
    const linked = await link(board, other.number, { prNumber: 1 });
    expect(linked.body.repositories).toMatchObject([{ branchName, prNumber: 1, prState: "open" }]);
  });
});

describe("POST /v1/cards with a pull request or branch", () => {
  it.each([
    ["an open pull request", false, "In review"],
    ["a draft", true, "In progress"],
  ] as const)(
    "puts the card of %s into the stage that fits, without writing on GitHub",
    async (_, draft, stage) => {
      const board = await world.board();
      const number = await openPull(board, "french", { title: "Say it in French", body: "Bonjour", draft });
      await allProcessed(world);
      world.forge.requests.reset();
      const key = `make-${randomUUID()}`;
      const made = await create(board, { pullRequest: { repositoryId: webOf(board), number } }, key);
      expect([made.status, made.body]).toMatchObject([
        201,
        {
          title: "Say it in French",
          description: "Bonjour",
          statusId: board.stages[stage],
          blocked: null,
          repositories: [{ branchName: "french", prNumber: number, prState: draft ? "draft" : "open" }],
        },
      ]);
      const again = await create(board, { pullRequest: { repositoryId: webOf(board), number } }, key);
      expect([again.headers.get("idempotent-replay"), again.body.number]).toEqual(["true", made.body.number]);
      await allProcessed(world);
      expect(
        world.forge.requests.all
          .map(({ route }) => route)
          .filter((route) => route !== null && !/^GET|graphql|access_tokens/.test(route)),
      ).toEqual([]);
      const taken = await create(board, {
        title: "Mine",
        pullRequest: { repositoryId: webOf(board), number },
      });
      expect(taken.status).toBe(409);
      expect((await board.api.get<unknown[]>("/v1/cards")).body).toHaveLength(1);
    },
  );

  it("moves the card into the stage that is named, and keeps it in the backlog if a gate refuses", async () => {
    const board = await world.board();
    const number = await openPull(board, "french");
    const merged = await create(board, {
      title: "Ship it",
      statusId: board.stages.Done,
      pullRequest: { repositoryId: webOf(board), number },
    });
    expect(merged.body).toMatchObject({ title: "Ship it", statusId: board.stages.Done });
    await pushTo(board, "german", "german.txt");
    const draft = await create(board, {
      statusId: board.stages.Backlog,
      branch: { repositoryId: webOf(board), name: "german" },
    });
    expect(draft.body).toMatchObject({
      title: "german",
      statusId: board.stages.Backlog,
      repositories: [{ branchName: "german", prNumber: null }],
    });
  });

  it("refuses both, neither a title, another board's repository and a missing branch", async () => {
    const board = await world.board();
    const other = await world.board();
    const pullRequest = { repositoryId: webOf(board), number: 1 };
    const branch = { repositoryId: webOf(board), name: "german" };
    const foreign = { repositoryId: webOf(other), name: "main" };
    const attempts: [object, number, string][] = [
      [{ pullRequest, branch }, 400, "body.branch: send pullRequest or branch, not both"],
      [{}, 400, "body.title: is required (text)"],
      [{ branch: foreign }, 404, "The project has no repository with this id."],
      [{ branch }, 409, `${board.owner}/web has no branch german. Push it, and make the call again.`],
    ];
    for (const [body, status, message] of attempts) {
      const refused = await create(board, body);
      expect([refused.status, refused.body.message]).toEqual([status, message]);
    }
    expect((await board.api.get<unknown[]>("/v1/cards")).body).toEqual([]);
  });

  it("continues with the card of the first attempt, also if its pull request was merged since", async () => {
    const board = await world.board();
    const number = await openPull(board, "french");
    const body = { statusId: board.stages.Done, pullRequest: { repositoryId: webOf(board), number } };
    const key = `make-${randomUUID()}`;
    const { faults } = world.forge.control;
    const merges = { method: "PUT", path: "/repositories/*/pulls/*/*" };
    faults.add({ match: merges, fault: { kind: "reset" } });
    expect((await create(board, body, key)).status).toBe(503);
    faults.clear();
    await board.person("ada", "PUT", `/repos/${board.owner}/web/pulls/${number}/merge`, {});
    const made = await eventually(
      () => create(board, body, key),
      ({ status }) => status === 201,
    );
    expect(made.body).toMatchObject({ number: 1, statusId: board.stages.Done });
    await allProcessed(world);
    expect((await board.api.get<unknown[]>("/v1/cards")).body).toHaveLength(1);
  });

  it("makes one card if the branch is deleted and the call is repeated", async () => {
    const board = await world.board();
    await pushTo(board, "german", "german.txt");
    const branch = { repositoryId: webOf(board), name: "german" };
    const key = `make-${randomUUID()}`;
    await deleteBranch(board, "german");
    expect((await create(board, { branch }, key)).status).toBe(409);
    await pushTo(board, "german", "german.txt");
    const made = await eventually(
      () => create(board, { branch }, key),
      ({ status }) => status === 201,
    );
    expect(made.body).toMatchObject({ statusId: board.stages["In progress"] });
    await board.api.cardWhen(made.body.number, ({ repositories: [one] }) => one?.prState === "draft");
    expect((await board.api.get<unknown[]>("/v1/cards")).body).toHaveLength(1);
  });
});
