import { afterEach, describe, expect, it } from "@jest/globals";
import { registerAgent } from "../../src/actions/members/forge-accounts.ts";
import { eventually, type Api } from "../support/api.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { putFlow, readFlow, setGates, withStage } from "../support/flows.ts";
import { cardOf, newContributor, pushWork, type Contributor } from "../support/gates/contributors.ts";
import { openCard } from "../support/stories/open-card.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { BoardOptions, TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

interface Team {
  readonly board: TestBoard;
  readonly ann: Contributor;
  readonly bob: Contributor;
  /** Keys of agents that these people own. */
  readonly ofAnn: Api;
  readonly ofBob: Api;
}

/** A board that needs a second person to merge, and two people with keys. */
async function team(options?: BoardOptions): Promise<Team> {
  const board = await world.board(options);
  const [ann, bob] = [newContributor(world, board, "ann"), newContributor(world, board, "bob")];
  const ofAnn = await board.as({ owner: ann.login });
  const ofBob = await board.as({ owner: bob.login });
  await setGates(board, "Done", { secondPerson: true });
  return { board, ann, bob, ofAnn, ofBob };
}

/** Moves a card to the end and returns the cause of the refusal, or "moved". */
async function finish({ board }: Pick<Team, "board">, api: Api, number: number): Promise<unknown> {
  const plan = await api.get<{ wouldMove: boolean; reasons: { reason: string; details: object }[] }>(
    `/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`,
  );
  const { status, body } = await api.move(number, board.stages.Done);
  expect(plan.body.wouldMove).toBe(status === 200);
  if (status === 200) return "moved";
  expect(plan.body.reasons).toEqual(body.blocked?.reasons);
  expect(body.blocked?.reason).toBe("needs_second_person");
  expect((await board.api.readCard(number)).statusId).toBe(board.stages["In review"]);
  return body.blocked?.reasons[0]?.details["cause"];
}

describe("a stage that needs a second person", () => {
  it("refuses who pushed and wrote the commits, also with another key, and lets another person merge", async () => {
    const all = await team();
    const { board, ann, ofAnn, ofBob } = all;
    const { number, branch, head } = await cardOf(world, board, { pusher: ann });
    expect(await finish(all, ofAnn, number)).toBe("same_person");
    const { blocked } = await board.api.readCard(number);
    expect(blocked).toMatchObject({
      repository: `${board.owner}/web`,
      headSha: head,
      message: `Done needs a second person: ${ann.login} pushed or wrote commits of ${branch}, so neither ${ann.login} nor an account of the same person may move the card. Another person has to move it.`,
      reasons: [{ details: { cause: "same_person", headSha: head } }],
    });
    expect(await finish(all, await board.as({ owner: ann.login }), number)).toBe("same_person");
    const calls = await callsOf(world, async () => {
      expect((await ofBob.move(number, board.stages.Done)).status).toBe(200);
    });
    expect(calls.filter((name) => name === "Inspect")).toHaveLength(1);
    // The inspection, the target, the merge, and who merged.
    expect(calls).toHaveLength(4);
  });

  it("counts pushing another person's commits, writing what another pushed, and co-authors", async () => {
    const all = await team();
    const { board, ann, bob, ofAnn, ofBob } = all;
    const cleo = newContributor(world, board, "cleo");
    const ofCleo = await board.as({ owner: cleo.login });
    const written = await cardOf(world, board, { pusher: ann, author: bob.email });
    expect(await finish(all, ofAnn, written.number)).toBe("same_person");
    expect(await finish(all, ofBob, written.number)).toBe("same_person");
    expect(await finish(all, ofCleo, written.number)).toBe("moved");
    const together = await cardOf(world, board, { pusher: ann, coAuthor: bob.email });
    expect(await finish(all, ofBob, together.number)).toBe("same_person");
    expect(await finish(all, ofCleo, together.number)).toBe("moved");
  });

  it("counts an earlier push to the branch, whoever pushed last", async () => {
    const all = await team();
    const { board, ann, bob, ofAnn } = all;
    const { number, branch } = await cardOf(world, board, { pusher: ann, author: bob.email });
    const head = await pushWork(world, board, branch, { pusher: bob });
    await board.api.eventWhen(number, ({ data }) => data["after"] === head);
    expect(await finish(all, ofAnn, number)).toBe("same_person");
  });

  it("counts an agent's commits as those of its owner, and none without an owner", async () => {
    const all = await team();
    const { board, ann, ofAnn, ofBob } = all;
    const coder = newContributor(world, board, "coder", "Bot");
    const { number } = await cardOf(world, board, { pusher: coder });
    expect(await finish(all, ofBob, number)).toBe("author_unknown");
    expect((await board.api.readCard(number)).blocked?.message).toContain(`${coder.login}, who wrote`);
    const { workspaceId } = board;
    await registerAgent(world.service.deps, { workspaceId, login: coder.login, owner: ann.login });
    expect(await finish(all, ofAnn, number)).toBe("same_person");
    expect(await finish(all, ofBob, number)).toBe("moved");
  });

  it("refuses a key without an owner", async () => {
    const all = await team();
    const { board, ann } = all;
    const { number } = await cardOf(world, board, { pusher: ann });
    expect(await finish(all, board.api, number)).toBe("no_owner");
    expect((await board.api.readCard(number)).blocked?.message).toContain(
      "trunkline credential issue --owner",
    );
  });

  it("refuses commits whose author has no account, and more than a hundred commits", async () => {
    const all = await team();
    const { board, ann, ofBob } = all;
    const unknown = await cardOf(world, board, { pusher: ann, author: "nobody@example.com" });
    expect(await finish(all, ofBob, unknown.number)).toBe("author_unknown");
    const many = await cardOf(world, board, { pusher: ann, commits: 101 });
    expect(await finish(all, ofBob, many.number)).toBe("too_many_commits");
  });

  it("names only the target branch if that is missing, because the commits are unknown then", async () => {
    const { board, ann, ofBob } = await team();
    const { number } = await cardOf(world, board, { pusher: ann });
    const flow = withStage(await readFlow(board), "Done", { rule: { type: "merge", into: "nope" } });
    expect((await putFlow(board, flow)).status).toBe(200);
    const { body } = await ofBob.move(number, board.stages.Done);
    expect(body.blocked?.reasons).toMatchObject([{ reason: "branch_missing", details: { branch: "nope" } }]);
  });

  it("refuses a head that nobody is known to have pushed, until the push becomes known", async () => {
    const all = await team();
    const { board, ann, ofBob } = all;
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["In progress"]);
    world.forge.control.webhooks.add({ match: { event: "push" }, fault: { kind: "hold" } });
    await pushWork(world, board, await branchOf(board, number), { pusher: ann });
    expect((await ofBob.move(number, board.stages["In review"])).status).toBe(200);
    expect(await finish(all, ofBob, number)).toBe("pusher_unknown");
    world.forge.control.webhooks.clear();
    await world.forge.control.webhooks.release();
    await eventually(
      () => board.api.readCard(number),
      ({ blocked }) => blocked === null,
    );
    expect(await finish(all, ofBob, number)).toBe("moved");
  });

  it("unblocks a card when its head changes", async () => {
    const all = await team();
    const { board, ann, bob, ofAnn } = all;
    const { number, branch } = await cardOf(world, board, { pusher: ann });
    expect(await finish(all, ofAnn, number)).toBe("same_person");
    await pushWork(world, board, branch, { pusher: bob });
    await eventually(
      () => board.api.readCard(number),
      ({ blocked }) => blocked === null,
    );
  });

  it("checks all repositories of a card before it merges one", async () => {
    const all = await team({ repositories: ["web", "api"] });
    const { board, ann, bob, ofAnn } = all;
    const repositoryIds = Object.values(board.repositories);
    const { number } = await board.api.card({ title: "Say hello", repositoryIds });
    await board.api.move(number, board.stages["In progress"]);
    const branch = await branchOf(board, number);
    await pushWork(world, board, branch, { pusher: bob });
    await pushWork(world, board, branch, { pusher: ann, repository: "api" });
    await eventually(
      () => board.api.readCard(number),
      ({ repositories }) => repositories.every(({ prState }) => prState === "draft"),
    );
    await board.api.move(number, board.stages["In review"]);
    expect(await finish(all, ofAnn, number)).toBe("same_person");
    const card = await board.api.readCard(number);
    expect(card.blocked?.repository).toBe(`${board.owner}/api`);
    expect(card.repositories.map(({ prState }) => prState)).toEqual(["open", "open"]);
  });

  it("applies to a stage without a Git rule, and asks GitHub only for cards with a repository", async () => {
    const all = await team();
    const { board, ann, ofAnn, ofBob } = all;
    await setGates(board, "Done");
    await setGates(board, "To do", { secondPerson: true });
    const { number } = await cardOf(world, board, { pusher: ann });
    const move = (api: Api) => api.move(number, board.stages["To do"]);
    expect((await move(ofAnn)).body.blocked?.reasons[0]?.details["cause"]).toBe("same_person");
    world.forge.control.calls.reset();
    expect((await move(ofBob)).status).toBe(200);
    expect(world.forge.control.calls.read()).toMatchObject({ total: 1, writes: 0 });
    const empty = await board.api.card({ repositoryIds: [] });
    expect((await ofAnn.move(empty.number, board.stages["To do"])).status).toBe(200);
    expect(world.forge.control.calls.read().total).toBe(1);
  });

  it("does not prevent what a person merges on GitHub", async () => {
    const all = await team();
    const { board, ann, ofAnn } = all;
    const { number } = await openCard(world, board);
    expect(ann.login).not.toBe("");
    const { prNumber } = (await board.api.readCard(number)).repositories[0]!;
    const merged = await board.person("ada", "PUT", `/repos/${board.owner}/web/pulls/${prNumber}/merge`);
    expect(merged.status).toBe(200);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "merged");
    expect(await finish(all, ofAnn, number)).toBe("moved");
  });
});
