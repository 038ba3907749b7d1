import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { freeze, makeRelease, readRelease, setCards, unfreeze } from "../support/stories/releases.ts";
import { flowPath, readFlow } from "../support/flows.ts";
import { pushTo } from "../support/stories/work-on-card.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { headOf, headsOf } from "../support/stories/merged-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board({ repositories: ["web", "api"] });
});
afterEach(() => leaveConsistent(world, board));

const messageOf = ({ body }: { body: unknown }): string => (body as { message: string }).message;

describe("POST /v1/releases/{id}/freeze", () => {
  // Contract: Releases: A frozen release is `open`, with `frozenAt` and a branch in each repository
  // Contract: Releases: After freezing, only `pick` adds a card
  it("creates the release branch in each repository of the project once and ends scope changes", async () => {
    const { number } = await board.api.card();
    const id = await makeRelease(board.api, "Spring 1.4", [number]);
    const member = await board.as({ role: "member" });
    expect((await freeze(member, id)).status).toBe(403);
    const frozen = await freeze(board.api, id);
    expect(frozen).toMatchObject({ status: 200, body: { id, status: "open", frozenAt: expect.any(String) } });
    const mains = await headsOf(board, "main");
    expect(await headsOf(board, "release/spring-1-4")).toEqual(mains);
    expect((await readRelease(board.api, id)).repositories).toMatchObject([
      {
        fullName: `${board.owner}/api`,
        branchName: "release/spring-1-4",
        headSha: mains[1],
        holdsCards: false,
      },
      {
        fullName: `${board.owner}/web`,
        branchName: "release/spring-1-4",
        headSha: mains[0],
        holdsCards: true,
      },
    ]);
    const scope = await setCards(board.api, id, []);
    expect([scope.status, messageOf(scope)]).toEqual([409, expect.stringContaining("/pick")]);
    await world.forge.commit(`${board.owner}/web`, "main", { "later.txt": "later\n" });
    world.forge.control.calls.reset();
    const again = await freeze(board.api, id);
    expect(again).toMatchObject({ status: 200, body: { frozenAt: frozen.body.frozenAt } });
    expect(world.forge.control.calls.read().total).toBe(0);
    expect(await headsOf(board, "release/spring-1-4")).toEqual(mains);
  });

  it("makes two calls to GitHub for each repository", async () => {
    const id = await makeRelease(board.api, "Counted");
    world.forge.control.calls.reset();
    expect((await freeze(board.api, id)).status).toBe(200);
    expect(world.forge.control.calls.read().total).toBeLessThanOrEqual(4);
  });

  it("starts the branch at the target of the flow's first merge stage", async () => {
    const own = await world.board();
    const flow = await readFlow(own);
    const stages = flow.stages.flatMap((stage) =>
      stage.name === "Done"
        ? [
            { name: "Staging", kind: "stage", minRole: "member", rule: { type: "merge", into: "staging" } },
            stage,
          ]
        : [stage],
    );
    expect((await own.api.put(flowPath(own), { ...flow, stages })).status).toBe(200);
    const id = await makeRelease(own.api, "1.4");
    const refused = await freeze(own.api, id);
    expect([refused.status, messageOf(refused)]).toEqual([
      409,
      expect.stringContaining("has no branch staging"),
    ]);
    const staged = await pushTo(own, "staging", "staged.txt");
    await allProcessed(world);
    expect((await freeze(own.api, id)).status).toBe(200);
    expect(await headOf(own, "web", "release/1-4")).toBe(staged);
  });

  it("leaves no branch if one repository refuses, and does not change foreign branches", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const foreign = await world.forge.commit(`${own.owner}/web`, "main", { "a.txt": "a\n" });
    await own.person("ada", "POST", `/repos/${own.owner}/web/git/refs`, {
      ref: "refs/heads/release/2-0",
      sha: foreign,
    });
    await world.forge.commit(`${own.owner}/web`, "main", { "b.txt": "b\n" });
    const id = await makeRelease(own.api, "2.0");
    const refused = await freeze(own.api, id);
    expect([refused.status, messageOf(refused)]).toEqual([
      409,
      expect.stringContaining("has a branch release/2-0 already, at another commit"),
    ]);
    expect(await headsOf(own, "release/2-0")).toEqual([foreign, null]);
    expect(await readRelease(own.api, id)).toMatchObject({
      frozenAt: null,
      repositories: [{ branchName: null }, { branchName: null }],
    });
    expect((await setCards(own.api, id, [])).status).toBe(204);
    await own.person("ada", "DELETE", `/repos/${own.owner}/web/git/refs/heads/release/2-0`);
    expect((await freeze(own.api, id)).status).toBe(200);
  });

  it.each([
    ["release", "release/3-0"],
    ["release/3-0/rc", "release/3-0"],
  ])("names the branch %s, which is in the way, and leaves no branch", async (theirs, wanted) => {
    const own = await world.board({ repositories: ["web", "api"] });
    const sha = await world.forge.commit(`${own.owner}/web`, theirs, { "a.txt": "a\n" }, { from: "main" });
    const id = await makeRelease(own.api, "3.0");
    const refused = await freeze(own.api, id);
    expect([refused.status, messageOf(refused)]).toEqual([
      409,
      `${own.owner}/web: The branch ${theirs} is in the way of a branch ${wanted}: Git cannot have both. Rename or delete one of them, or choose another name, then try again.`,
    ]);
    expect(await headsOf(own, wanted)).toEqual([null, null]);
    expect(await headOf(own, "web", theirs)).toBe(sha);
    await own.person("ada", "DELETE", `/repos/${own.owner}/web/git/refs/heads/${theirs}`);
    expect((await freeze(own.api, id)).status).toBe(200);
  });

  it("names the repositories where GitHub does not delete the branch again after a refusal", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    await world.forge.commit(`${own.owner}/web`, "release", { "a.txt": "a\n" }, { from: "main" });
    const fault = {
      kind: "graphql-error",
      type: "UNPROCESSABLE",
      message: "No",
      path: ["updateRefs"],
    } as const;
    world.forge.control.faults.add({ match: { operation: "UpdateRefs" }, fault, times: 1 });
    const id = await makeRelease(own.api, "3.1");
    const refused = await freeze(own.api, id);
    expect(messageOf(refused)).toContain(
      `The branch release/3-1 stays in ${own.owner}/api: somebody pushed to it, or GitHub did not delete it.`,
    );
    expect(await headsOf(own, "release/3-1")).toEqual([null, await headOf(own, "api", "main")]);
  });

  it("makes its repositories and cards undeletable until it is unfrozen", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const { number } = await own.api.card({ repositoryIds: [] });
    const id = await makeRelease(own.api, "Kept", [number]);
    expect((await freeze(own.api, id)).status).toBe(200);
    const repositories = `/v1/projects/${own.projectId}/repositories`;
    const web = { repositories: [{ id: own.repositories["web"] }] };
    const refused = await own.api.put(repositories, web);
    expect([refused.status, messageOf(refused)]).toEqual([
      409,
      expect.stringContaining("has the branch release/kept in"),
    ]);
    expect((await own.api.delete(`/v1/cards/${number}`)).status).toBe(409);
    expect((await unfreeze(own.api, id)).status).toBe(200);
    expect((await own.api.put(repositories, web)).status).toBe(200);
    expect((await own.api.delete(`/v1/cards/${number}`)).status).toBe(204);
    expect((await own.api.delete(`/v1/releases/${id}`)).status).toBe(204);
  });

  it("creates the branch in a repository added later when it is called again", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const repositories = `/v1/projects/${own.projectId}/repositories`;
    const [web, api] = [{ id: own.repositories["web"] }, { id: own.repositories["api"] }];
    await own.api.put(repositories, { repositories: [web] });
    const id = await makeRelease(own.api, "Late");
    const first = await freeze(own.api, id);
    expect((await headsOf(own, "release/late"))[1]).toBeNull();
    await own.api.put(repositories, { repositories: [web, api] });
    const second = await freeze(own.api, id);
    expect(second.body.frozenAt).toBe(first.body.frozenAt);
    expect(await headsOf(own, "release/late")).toEqual(await headsOf(own, "main"));
  });

  it("continues at the stored commits when the call is repeated after an outage of GitHub", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await makeRelease(own.api, "Away");
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    world.forge.control.faults.add({ match, fault: { kind: "response", status: 502 }, times: 3 });
    const key = "freeze-while-it-is-away";
    const away = await freeze(own.api, id, { key });
    expect([away.status, Number(away.headers.get("retry-after")) > 0]).toEqual([503, true]);
    world.forge.control.faults.clear();
    await world.forge.commit(`${own.owner}/api`, "main", { "later.txt": "later\n" });
    const [web, api] = await headsOf(own, "main");
    await eventually(
      () => freeze(own.api, id, { key }),
      ({ status }) => status === 200,
    );
    expect((await headsOf(own, "release/away"))[0]).toBe(web);
    // It starts at the stored commit, not at the new tip of main.
    expect((await headsOf(own, "release/away"))[1]).not.toBe(api);
  });

  it("is refused if a foreign branch took the name while GitHub was away", async () => {
    const own = await world.board();
    const id = await makeRelease(own.api, "Taken");
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    world.forge.control.faults.add({ match, fault: { kind: "response", status: 502 }, times: 3 });
    const key = "freeze-while-it-is-away";
    expect((await freeze(own.api, id, { key })).status).toBe(503);
    const foreign = await world.forge.commit(`${own.owner}/web`, "release/taken", { "foreign.txt": "x\n" });
    world.forge.control.faults.clear();
    const refused = await eventually(
      () => freeze(own.api, id, { key }),
      ({ status }) => status !== 503,
    );
    expect(refused.status).toBe(409);
    expect(refused.text).toContain("has a branch release/taken already, at another commit");
    expect(await headOf(own, "web", "release/taken")).toBe(foreign);
    expect((await readRelease(own.api, id)).frozenAt).toBeNull();
  });

  // Fault: C2
  it("finds a branch whose creation had a lost response", async () => {
    const own = await world.board();
    const id = await makeRelease(own.api, "Lost");
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    const fault = { kind: "response", status: 502, effect: "after" } as const;
    world.forge.control.faults.add({ match, fault, times: 1 });
    expect((await freeze(own.api, id)).status).toBe(200);
    world.forge.control.faults.clear();
    expect(await headOf(own, "web", "release/lost")).toBe(await headOf(own, "web", "main"));
  });
});

describe("DELETE /v1/releases/{id}/freeze", () => {
  // Contract: Releases: After unfreezing, the scope can change again
  it("deletes the branches and allows scope changes again", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const { number } = await own.api.card();
    const id = await makeRelease(own.api, "Back", [number]);
    expect((await unfreeze(own.api, id)).status).toBe(200);
    await freeze(own.api, id);
    const member = await own.as({ role: "member" });
    expect((await unfreeze(member, id)).status).toBe(403);
    expect(await unfreeze(own.api, id)).toMatchObject({
      status: 200,
      body: { frozenAt: null, taskCount: 1 },
    });
    expect(await headsOf(own, "release/back")).toEqual([null, null]);
    expect((await setCards(own.api, id, [])).status).toBe(204);
    expect((await freeze(own.api, id)).status).toBe(200);
  });

  it("returns 409 and keeps all branches while one of them has new commits", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await makeRelease(own.api, "Pushed");
    await freeze(own.api, id);
    await world.forge.commit(`${own.owner}/web`, "release/pushed", { "version.txt": "1\n" });
    const before = await headsOf(own, "release/pushed");
    const refused = await unfreeze(own.api, id);
    expect([refused.status, messageOf(refused)]).toEqual([409, expect.stringContaining("release/pushed in")]);
    expect(await headsOf(own, "release/pushed")).toEqual(before);
    expect((await readRelease(own.api, id)).frozenAt).not.toBeNull();
  });

  it("restores the deleted branches if the last one is pushed to during the call", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await makeRelease(own.api, "Race");
    await freeze(own.api, id);
    const [main] = await headsOf(own, "main");
    const match = { operation: "UpdateRefs" };
    world.forge.control.faults.add({ match, fault: { kind: "none" }, times: 1 });
    const second = holdCalls(world, match, "before");
    const unfreezing = unfreeze(own.api, id);
    await pushWhen(own, async () => (await headOf(own, "api", "release/race")) === null);
    second.resume();
    const refused = await unfreezing;
    world.forge.control.faults.clear();
    expect([refused.status, messageOf(refused)]).toEqual([409, expect.stringContaining("release/race in")]);
    expect(await headOf(own, "api", "release/race")).not.toBeNull();
    expect(await headOf(own, "web", "release/race")).not.toBe(main);
    expect((await readRelease(own.api, id)).frozenAt).not.toBeNull();
  });

  it("accepts a branch that a person deleted before", async () => {
    const own = await world.board();
    const id = await makeRelease(own.api, "Gone");
    await freeze(own.api, id);
    await own.person("ada", "DELETE", `/repos/${own.owner}/web/git/refs/heads/release/gone`);
    expect(await unfreeze(own.api, id)).toMatchObject({ status: 200, body: { frozenAt: null } });
  });
});

/** Pushes to the release branch in web when the condition holds. */
async function pushWhen(own: TestBoard, condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition()));
  await world.forge.commit(`${own.owner}/web`, "release/race", { "late.txt": "late\n" });
}
