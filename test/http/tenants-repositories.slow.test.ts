/** A repository belongs to one project. Cards of its former project lose access. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { changeRepository } from "../../sandbox/forge/actions/change-repository.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";
import { rows } from "../../src/store/db/connect.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { eventually } from "../support/api.ts";
import { onForge, repositoryOf } from "../support/forge/installations.ts";
import { headOf, mergedCard } from "../support/stories/merged-card.ts";
import { secondBoard, setRepositories, type SecondBoard } from "../support/stories/second-board.ts";
import { writeFile } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

const SECRET = "only for the second board";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface OldCard {
  readonly board: TestBoard;
  readonly second: SecondBoard;
  readonly number: number;
  readonly branch: string;
}

/** A card whose work is merged, in a repository that its project then loses to a second board. */
async function cardOfLostRepository(inBetween?: (board: TestBoard) => Promise<unknown>): Promise<OldCard> {
  const board = await world.board();
  const second = await secondBoard(world.service.deps, board);
  const number = await mergedCard(world, board, { web: { "work.txt": "work\n" } });
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  await inBetween?.(board);
  await setRepositories(board.api, board.projectId, []);
  await setRepositories(second.api, second.projectId, Object.values(board.repositories));
  return { board, second, number, branch };
}

/** A pull request from the card's branch, with a comment. */
async function newPullRequest({ board, branch }: OldCard): Promise<number> {
  await writeFile(board, "web", branch, "more.txt", "more\n");
  const pulls = `/repos/${board.owner}/web/pulls`;
  const opened = await board.person("ada", "POST", pulls, { title: SECRET, head: branch, base: "main" });
  const number = Number(opened.body["number"]);
  const comments = `/repos/${board.owner}/web/issues/${number}/comments`;
  await board.person("grace", "POST", comments, { body: SECRET });
  await allProcessed(world);
  return number;
}

/** Moves the card back to a stage without Git, then into the stage that merges. */
const moveThrough = async ({ board, number }: OldCard) => {
  expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
  return board.api.move(number, board.stages.Done);
};

describe("a card whose repository moved to another board", () => {
  it.each([
    ["directly", undefined],
    [
      "while the repository was archived",
      async (board: TestBoard) => {
        const { context, by } = onForge(world, board);
        const { id } = repositoryOf(world, board);
        await changeRepository(context, id, by, { archived: true });
        await changeRepository(context, id, by, { archived: false });
      },
    ],
  ])("cannot make moves that need it, if it moved %s", async (_, inBetween) => {
    const card = await cardOfLostRepository(inBetween);
    await newPullRequest(card);
    const main = await headOf(card.board, "web", "main");
    const refused = await moveThrough(card);
    expect(refused.status).toBe(409);
    expect(refused.body.blocked?.reasons).toMatchObject([
      { reason: "not_permitted", details: { connection: "other_project" } },
    ]);
    const plan = `/v1/cards/${card.number}/move-plan?statusId=${card.board.stages.Done}`;
    expect((await card.board.api.get(plan)).text).not.toContain(SECRET);
    expect(await headOf(card.board, "web", "main")).toBe(main);
  });

  it("keeps its history and gets no events from there", async () => {
    const card = await cardOfLostRepository();
    const { board, number, branch } = card;
    const before = await board.api.readCard(number);
    await newPullRequest(card);
    expect(before.repositories).toMatchObject([{ branchName: branch, prNumber: 1, prState: "merged" }]);
    for (const part of ["", "/timeline", "/checks", "/reviews"]) {
      const { status, text } = await board.api.get(`/v1/cards/${number}${part}`);
      expect(status).toBe(200);
      expect(text).not.toContain(SECRET);
    }
    expect((await board.api.readCard(number)).repositories).toEqual(
      before.repositories.map((link) => ({ ...link, checksState: null })),
    );
  });

  it("does not mirror its comments there", async () => {
    const card = await cardOfLostRepository();
    const pull = await newPullRequest(card);
    const posted = await card.board.api.post(`/v1/cards/${card.number}/comments`, { body: "From outside" });
    expect(posted.status).toBe(201);
    await allProcessed(world);
    const path = `/repos/${card.board.owner}/web/issues/${pull}/comments`;
    const { body } = await card.board.person("ada", "GET", path);
    expect((body as unknown as { body: string }[]).map((comment) => comment.body)).toEqual([SECRET]);
  });

  it("can be moved again when the repository returns", async () => {
    const card = await cardOfLostRepository();
    const { board, second } = card;
    expect((await moveThrough(card)).status).toBe(409);
    await setRepositories(second.api, second.projectId, []);
    await setRepositories(board.api, board.projectId, Object.values(board.repositories));
    await writeFile(board, "web", card.branch, "later.txt", "later\n");
    await allProcessed(world);
    expect((await board.api.move(card.number, board.stages.Done)).status).toBe(200);
  });
});

it("a draft pull request that waits for its turn is not opened after the repository got another board", async () => {
  const paced = await startWorld({ paceWrites: true });
  try {
    const board = await paced.board();
    const second = await secondBoard(paced.service.deps, board);
    const { number } = await board.api.card({ repositoryIds: Object.values(board.repositories) });
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
    await board.db("forge_turns").update({ next_write_at: board.db.raw("now() + interval '6 seconds'") });
    await writeFile(board, "web", branch, "work.txt", "work\n");
    const opening = { kind: "open_pull_request" };
    await eventually(
      () => board.db("forge_intents").where(opening),
      ({ length }) => length === 1,
    );
    await setRepositories(board.api, board.projectId, []);
    await setRepositories(second.api, second.projectId, Object.values(board.repositories));
    const free = board.db("forge_turns").whereRaw("next_write_at < now() - interval '1 second'");
    await eventually(
      () => free.clone(),
      ({ length }) => length === 1,
    );
    expect((await board.person("ada", "GET", `/repos/${board.owner}/web/pulls`)).body).toEqual([]);
  } finally {
    await paced.stop();
  }
});

it("the database refuses a usable link between a card and a repository of another project", async () => {
  const { board, number } = await cardOfLostRepository();
  const trx = await beginTransaction(world.service.deps.db);
  await rows(
    trx,
    `update card_repositories cr set project_id = r.project_id
       from repositories r, cards c
      where r.id = cr.repository_id and c.id = cr.card_id and c.number = :number and c.workspace_id = :workspaceId`,
    { number, workspaceId: board.workspaceId },
  );
  await expect(trx.commit()).rejects.toThrow("violates foreign key constraint");
});
