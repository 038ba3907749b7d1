import { beforeAll, describe, expect, it } from "@jest/globals";
import { commentsOf } from "../support/stories/comments.ts";
import { commandLineOf, type CommandLine } from "../support/processes/command-line.ts";
import { makeForgeAccount } from "../support/forge/forge-account.ts";
import { openCard } from "../support/stories/open-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let line: CommandLine;
beforeAll(async () => {
  line = commandLineOf(world);
});

const on = (board: TestBoard, login: string): string[] => [
  "--workspace",
  board.workspaceId,
  "--login",
  login,
];

/** The user's kind in the list of members, on a card and on the board. */
async function kindsOf({ api, stages }: TestBoard, userId: string): Promise<(string | undefined)[]> {
  const members = (await api.get<{ id: string; kind: string }[]>("/v1/members")).body;
  const { number } = await api.card({ title: "Theirs", assigneeId: userId, statusId: stages["To do"] });
  const card = (await api.get<Assigned>(`/v1/cards/${number}`)).body;
  const { columns } = (
    await api.get<{ columns: { tasks: (Assigned & { number: number })[] }[] }>("/v1/board")
  ).body;
  const task = columns.flatMap(({ tasks }) => tasks).find((each) => each.number === number);
  return [members.find(({ id }) => id === userId)?.kind, card.assignee.kind, task?.assignee.kind];
}

interface Assigned {
  readonly assignee: { readonly kind: string };
}

/** The kind of the author of a card's newest comment. */
const kindOfCommenter = async (board: TestBoard, number: number): Promise<string> => {
  await board.api.eventWhen(number, ({ type }) => type === "comment");
  return (await commentsOf(board.api, number)).at(-1)?.author.user.kind ?? "none";
};

describe("an agent", () => {
  it("is an agent on the board that registered it only, its earlier comments included", async () => {
    const [board, otherBoard] = [await world.board(), await world.board()];
    const cards = [await openCard(world, board), await openCard(world, otherBoard)] as const;
    const helper = makeForgeAccount(world, "house-helper[bot]", [board, otherBoard]);
    for (const each of [board, otherBoard])
      expect((await helper.call(each, "POST", "/issues/1/comments", { body: "On it." })).status).toBe(201);
    expect(await kindOfCommenter(board, cards[0].number)).toBe("human");

    const added = await line.json<{ id: string; login: string }>(
      "agent",
      "add",
      ...on(board, "House-Helper[bot]"),
    );
    expect(added).toEqual({ workspaceId: board.workspaceId, id: expect.any(String), login: helper.login });
    await line.json("agent", "add", ...on(board, helper.login));
    expect(await kindOfCommenter(board, cards[0].number)).toBe("agent");
    expect(await kindOfCommenter(otherBoard, cards[1].number)).toBe("human");

    for (const each of [board, otherBoard])
      await line.json("member", "add", ...on(each, helper.login), "--role", "member");
    expect(await kindsOf(board, added.id)).toEqual(["agent", "agent", "agent"]);
    expect(await kindsOf(otherBoard, added.id)).toEqual(["human", "human", "human"]);

    const listed = await line.json<unknown[]>("agent", "list");
    expect(listed).toEqual([{ ...added, owner: null }]);
    expect(await line.json("agent", "list", "--workspace", otherBoard.workspaceId)).toEqual([]);
    await line.json("agent", "remove", ...on(board, helper.login));
    expect(await kindOfCommenter(board, cards[0].number)).toBe("human");
    expect((await line.run(["agent", "remove", ...on(board, helper.login)])).code).toBe(1);
  });

  // Contract: Timeline and comments: An agent's events have user kind `agent`
  it("that is a known agent is one on every board without registration", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const claude = makeForgeAccount(world, "claude[bot]", [board]);
    await claude.call(board, "POST", "/issues/1/comments", { body: "Done." });
    expect(await kindOfCommenter(board, number)).toBe("agent");
    expect(await line.json("agent", "list", "--workspace", board.workspaceId)).toEqual([]);
  });

  it("is not a person with the login of a known agent", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const person = makeForgeAccount(world, "copilot", [board], "User");
    await person.call(board, "POST", "/issues/1/comments", { body: "/give-up not mine" });
    expect(await kindOfCommenter(board, number)).toBe("human");
    const { body } = await board.api.get<{ kind: string }[]>("/v1/inbox");
    expect(body.map(({ kind }) => kind)).not.toContain("agent_gave_up");
  });

  it("is refused if GitHub has no such account", async () => {
    const board = await world.board();
    const refused = await line.run(["agent", "add", ...on(board, "no-such-bot[bot]")]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("no-such-bot[bot]");
  });
});
