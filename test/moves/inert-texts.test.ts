import { afterEach, describe, expect, it } from "@jest/globals";
import { ACTIVE_TOKENS } from "../support/forge/active-tokens.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { mirrorsOf, writeComment } from "../support/stories/comments.ts";
import { branchOf, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const TITLE = "@acme/everyone Closes #1, fixes acme/api#2 [skip ci] @dependabot merge GH-3 Card #14";
const DESCRIPTION = [
  "Resolves https://github.com/acme/api/issues/5 and `#6`",
  "/approve",
  "@ada [ci skip] [no ci] [skip actions] [actions skip]",
  "```\n#7 @grace\n```",
  "",
  "skip-checks: true",
].join("\n");

/** Readers do not see joiners. */
const seen = (text: string): string => text.replaceAll("\u200D", "");

function expectInert(text: string): void {
  for (const token of ACTIVE_TOKENS) expect(text).not.toMatch(token);
}

async function cardWithTokens(board: TestBoard): Promise<number> {
  const { number } = await board.api.card({ title: TITLE, description: DESCRIPTION });
  await board.api.move(number, board.stages["In progress"]);
  await writeFile(board, "web", await branchOf(board, number), "hello.txt", "hello\n");
  // GitHub uses the title for a squash merge of several commits.
  await writeFile(board, "web", await branchOf(board, number), "hello.txt", "hello again\n");
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  return number;
}

describe("a card whose title and description have effects on GitHub", () => {
  it.each(["merge", "squash"] as const)("is merged without them by a %s", async (method) => {
    const board = await world.board();
    expect((await putFlow(board, { ...(await readFlow(board)), mergeMethod: method })).status).toBe(200);
    const number = await cardWithTokens(board);
    expect(await board.api.move(number, board.stages.Done)).toMatchObject({ status: 200 });
    const { body: pull } = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/1`);
    const { title, body } = pull as { title: string; body: string };
    expectInert(title);
    expectInert(body);
    expect(seen(title)).toBe(TITLE);
    expect(seen(body)).toBe(`${DESCRIPTION}\n\n---\nCard ${number}`);
    const { body: head } = await board.person("ada", "GET", `/repos/${board.owner}/web/commits/main`);
    const { message } = head["commit"] as { message: string };
    expect(message).toContain(title);
    // GitHub itself names the pull request.
    expectInert(message.replace(/^Merge pull request #1 from |(?<=^.*) \(#1\)$/gm, ""));
  });

  it("has comments without them, except in code", async () => {
    const board = await world.board();
    const number = await cardWithTokens(board);
    const text = `${TITLE}\n\n/approve`;
    expect(await writeComment(board.api, number, `${text}\n\n\`@Input() #8\``)).toMatchObject({
      status: 201,
    });
    const [mirror = ""] = await mirrorsOf(world, board, "web", 1);
    expect(mirror).toContain("`@Input() #8`");
    expectInert(mirror.replace("`@Input() #8`", ""));
    expect(seen(mirror)).toContain(text);
  });
});
