import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { settled } from "../support/database/database-content.ts";
import { flowPath, readFlow } from "../support/flows.ts";
import { clearedWhen, itemWhen } from "../support/inbox.ts";
import { cardInReview, fileOn, headOf, mergedCard } from "../support/stories/merged-card.ts";
import {
  complete,
  freeze,
  makeRelease,
  pick,
  readRelease,
  setCards,
  tagOf,
  unfreeze,
} from "../support/stories/releases.ts";
import { holdWebhooks, protect, push, releaseWebhooks } from "../support/stories/repairing.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { trunkWhenLanded } from "../support/stories/trunk.ts";
import { twoTargets } from "../support/stories/two-targets.ts";
import { branchOf, pullPath, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board({ repositories: ["web", "api"] });
});
afterEach(() => leaveConsistent(world, board));

async function published(own: TestBoard, repository: string, tagName: string) {
  const path = `/repos/${own.owner}/${repository}/releases/tags/${tagName}`;
  const { body } = await own.person("ada", "GET", path);
  return body as { name: string; body: string; html_url: string };
}
const version = (own: TestBoard, repository: string, tagName: unknown) => ({
  repositoryId: own.repositories[repository],
  tagName,
});

/** Makes the call that creates all tags fail, so that each tag is created separately. */
const failCommonTagCall = (effect: "before" | "after" = "before") =>
  world.forge.control.faults.add({
    match: { operation: "CreateTags" },
    fault: { kind: "response", status: 502, effect },
  });

/** Commits to a card's branch and merges it. */
async function mergeCard(own: TestBoard, number: number, file: string): Promise<void> {
  await own.api.move(number, own.stages["In progress"]);
  await writeFile(own, "web", await branchOf(own, number), file, "x\n");
  const moved = await own.api.move(number, own.stages.Done);
  if (moved.status !== 200) throw new Error(`the card is not merged: ${moved.text}`);
}

const mergeStage = (name: string, kind: string, into: string | null) => ({
  name,
  kind,
  minRole: "member",
  rule: { type: "merge", into },
});

describe("POST /v1/releases/{id}/complete", () => {
  // Contract: Releases: Completing creates a tag and a GitHub release per repository and sets `completedAt`
  it("tags each repository with a version at its trunk and publishes release notes that list the cards", async () => {
    const title = "Say hello to @ada & [friends](x) #1";
    const number = await mergedCard(world, board, { web: { "a.txt": "a\n" } }, title);
    const { number: plain } = await board.api.card({ title: "No Git", repositoryIds: [] });
    const id = await makeRelease(board.api, "Spring", [number, plain]);
    const member = await board.as({ role: "member" });
    const versions = [version(board, "web", "v1.0.0"), version(board, "api", "api/v1")];
    expect((await complete(member, id, versions)).status).toBe(403);
    const mains = { web: await headOf(board, "web", "main"), api: await headOf(board, "api", "main") };
    world.forge.control.calls.reset();
    const response = await complete(board.api, id, versions);
    expect(world.forge.control.calls.read()).toMatchObject({ total: 5, writes: 3 });
    const notes = await published(board, "web", "v1.0.0");
    const apiNotes = await published(board, "api", "api/v1");
    expect(response).toMatchObject({
      status: 200,
      body: {
        status: "completed",
        completedAt: expect.any(String),
        taskCount: 2,
        tags: [
          {
            repositoryId: board.repositories["api"],
            fullName: `${board.owner}/api`,
            tagName: "api/v1",
            sha: mains.api,
            url: apiNotes.html_url,
          },
          { fullName: `${board.owner}/web`, tagName: "v1.0.0", sha: mains.web, url: notes.html_url },
        ],
      },
    });
    expect([await tagOf(board, "web", "v1.0.0"), await tagOf(board, "api", "api/v1")]).toEqual([
      mains.web,
      mains.api,
    ]);
    expect(notes.name).toBe("Spring");
    expect(notes.body).not.toContain("@ada");
    expect(notes.body.split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^- Card ${number}: Say hello to .*ada .*\\(#1\\)$`, "u")),
      `- Card ${plain}: No Git (not in this release)`,
    ]);
    expect(apiNotes.body).not.toContain("(#1)");
    const events = (await board.api.timeline(plain)).filter(({ kind }) => kind === "release_completed");
    expect(events).toMatchObject([{ data: { releaseId: id, releaseName: "Spring" } }]);
  });

  // Contract: Releases: `GET /v1/releases` lists open and completed releases
  it("makes the release read-only, and its cards can join another one", async () => {
    const { number } = await board.api.card({ repositoryIds: [] });
    const id = await makeRelease(board.api, "Over", [number]);
    expect((await complete(board.api, id, [])).body.status).toBe("completed");
    const before = await readRelease(board.api, id);
    for (const response of [
      await setCards(board.api, id, []),
      await freeze(board.api, id),
      await unfreeze(board.api, id),
      await pick(board.api, id, number),
      await complete(board.api, id, []),
      await board.api.post(`/v1/releases/${id}/promote`, { statusId: board.stages.Done }),
      await board.api.delete(`/v1/releases/${id}`),
    ]) {
      expect([response.status, (response.body as { message: string }).message]).toEqual([
        409,
        "The release Over is completed and cannot be changed.",
      ]);
    }
    await makeRelease(board.api, "Next", [number]);
    expect(await readRelease(board.api, id)).toEqual(before);
    expect((await board.api.delete(`/v1/cards/${number}`)).status).toBe(204);
    expect(await readRelease(board.api, id)).toMatchObject({
      taskCount: 1,
      cards: [{ number, title: "A card", statusId: null }],
    });
  });

  it("tags the release branch of a frozen release", async () => {
    const own = await world.board();
    const id = await makeRelease(own.api, "2.0");
    await freeze(own.api, id);
    await world.forge.commit(`${own.owner}/web`, "main", { "later.txt": "later\n" });
    const head = await world.forge.commit(`${own.owner}/web`, "release/2-0", { "version.txt": "2\n" });
    const response = await complete(own.api, id, [version(own, "web", "v2.0")]);
    expect(response.body.tags).toMatchObject([{ sha: head }]);
    expect(await tagOf(own, "web", "v2.0")).toBe(head);
    expect(await headOf(own, "web", "release/2-0")).toBe(head);
  });

  it("marks cards in the notes that the release branch does not contain", async () => {
    const own = await world.board();
    const merged = (name: string) => mergedCard(world, own, { web: { [`${name}.txt`]: `${name}\n` } }, name);
    const early = await merged("early");
    await trunkWhenLanded(own.api, 2);
    const { number: talk } = await own.api.card({ title: "talk", repositoryIds: [] });
    await own.api.move(talk, own.stages.Done);
    const open = await cardInReview(world, own, { web: { "open.txt": "open\n" } }, "open");
    const late = await own.api.card({ title: "late" });
    const picked = await own.api.card({ title: "picked" });
    const id = await makeRelease(own.api, "3.0", [early, talk, open, late.number, picked.number]);
    expect((await freeze(own.api, id)).status).toBe(200);
    for (const { number, title } of [late, picked]) await mergeCard(own, number, `${title}.txt`);
    await trunkWhenLanded(own.api, 4);
    expect((await pick(own.api, id, picked.number)).status).toBe(200);
    const preview = await own.api.get(`/v1/releases/${id}/preview`);
    expect(preview.body).toMatchObject({
      missingCards: [open, late.number],
      unmergedCards: [open],
    });
    expect((await complete(own.api, id, [version(own, "web", "v3.0")])).status).toBe(200);
    expect((await published(own, "web", "v3.0")).body.split("\n")).toEqual([
      `- Card ${early}: early (#1)`,
      `- Card ${talk}: talk`,
      `- Card ${open}: open (not in this release)`,
      `- Card ${late.number}: late (not in this release)`,
      expect.stringMatching(new RegExp(`^- Card ${picked.number}: picked \\(#\\d+\\)$`)),
    ]);
    // A later merge does not change what the release contained.
    expect((await own.api.move(open, own.stages.Done)).status).toBe(200);
    expect((await readRelease(own.api, id)).cards.filter(({ isMissing }) => isMissing)).toMatchObject([
      { number: open },
      { number: late.number },
    ]);
    expect(await readRelease(own.api, id)).toMatchObject({ taskCount: 5, missingCount: 2 });
    expect(await fileOn(own, "web", "v3.0", "late.txt")).toBeNull();
    expect(await fileOn(own, "web", "v3.0", "picked.txt")).not.toBeNull();
  });

  it("marks a card as missing that was merged only into another target", async () => {
    const { board: own, staging } = await twoTargets(world);
    const [past, through] = await Promise.all(
      ["past", "through"].map((title) => own.api.card({ title, statusId: own.stages["In progress"] })),
    );
    for (const { number, title } of [past, through].filter((card) => card !== undefined)) {
      await writeFile(own, "web", await branchOf(own, number), `${title}.txt`, "x\n");
      const stages = title === "through" ? [staging, own.stages.Done] : [own.stages.Done];
      for (const stage of stages) expect((await own.api.move(number, stage)).status).toBe(200);
    }
    await allProcessed(world);
    const numbers = [past, through].map((card) => card?.number ?? 0);
    const id = await makeRelease(own.api, "only", numbers);
    expect((await freeze(own.api, id)).status).toBe(200);
    expect(await fileOn(own, "web", "release/only", "past.txt")).toBeNull();
    expect(await fileOn(own, "web", "release/only", "through.txt")).not.toBeNull();
    const { body } = await own.api.get(`/v1/releases/${id}/preview`);
    expect(body["missingCards"]).toEqual([past?.number]);
  });

  it("marks a card as missing that the last target lacks, if the release is not frozen", async () => {
    const { board: own, staging } = await twoTargets(world);
    const titles = ["before", "whole", "half", "fix"] as const;
    const numbers: number[] = [];
    for (const title of titles) {
      const { number } = await own.api.card({ title, hotfix: title === "fix" });
      expect((await own.api.move(number, own.stages["In progress"])).status).toBe(200);
      await writeFile(own, "web", await branchOf(own, number), `${title}.txt`, "x\n");
      const stages = title === "fix" ? [own.stages.Done] : [staging];
      // Its branch started at `develop`, so it brings the card before to `main`.
      if (title === "whole") stages.push(own.stages.Done);
      for (const stage of stages) expect((await own.api.move(number, stage)).status).toBe(200);
      numbers.push(number);
    }
    await allProcessed(world);
    const [before, whole, half, fix] = numbers;
    const id = await makeRelease(own.api, "not frozen", numbers);
    const { body } = await own.api.get(`/v1/releases/${id}/preview`);
    // Without GitHub, the preview does not know what another card brought along.
    expect(body).toMatchObject({ missingCards: [before, half], unmergedCards: [] });
    expect((await complete(own.api, id, [version(own, "web", "v4")])).status).toBe(200);
    expect((await published(own, "web", "v4")).body.split("\n")).toEqual([
      `- Card ${before}: before (#1)`,
      `- Card ${whole}: whole (#2, #3)`,
      `- Card ${half}: half (not in this release)`,
      `- Card ${fix}: fix (#5)`,
    ]);
    const { cards } = await readRelease(own.api, id);
    expect(cards.filter(({ isMissing }) => isMissing)).toMatchObject([{ number: half }]);
    const files = await Promise.all(titles.map((title) => fileOn(own, "web", "v4", `${title}.txt`)));
    expect(files.map((file) => file !== null)).toEqual([true, true, false, true]);
  });

  it("marks a card as missing whose merge is known before the push that it made", async () => {
    const own = await world.board();
    const number = await cardInReview(world, own, { web: { "late.txt": "late\n" } }, "late");
    const id = await makeRelease(own.api, "5.0", [number]);
    expect((await freeze(own.api, id)).status).toBe(200);
    world.forge.control.webhooks.add({ match: { event: "push" }, fault: { kind: "hold" } });
    expect((await own.person("ada", "PUT", `${pullPath(own, 1)}/merge`)).status).toBe(200);
    await eventually(
      () => own.api.timeline(number),
      (items) => items.some(({ kind }) => kind === "pull_request_merged"),
    );
    const { body } = await own.api.get(`/v1/releases/${id}/preview`);
    expect(body).toMatchObject({ missingCards: [number], unmergedCards: [] });
    await releaseWebhooks(world);
  });

  it("marks a hotfix as missing until its back-merge is merged before the freeze", async () => {
    const { board: own } = await twoTargets(world);
    const { number } = await own.api.card({ title: "fix", hotfix: true });
    await mergeCard(own, number, "fix.txt");
    const { data } = await itemWhen(own.api, "backmerge_open");
    const missingIn = async (name: string): Promise<unknown> => {
      const id = await makeRelease(own.api, name, [number]);
      expect((await freeze(own.api, id)).status).toBe(200);
      const { body } = await own.api.get(`/v1/releases/${id}/preview`);
      expect((await fileOn(own, "web", `release/${name}`, "fix.txt")) === null).toBe(
        (body["missingCards"] as number[]).length > 0,
      );
      expect((await unfreeze(own.api, id)).status).toBe(200);
      expect((await own.api.delete(`/v1/releases/${id}`)).status).toBe(204);
      return body["missingCards"];
    };
    const outside = await makeRelease(own.api, "without it");
    const cardsOutside = async () =>
      (await own.api.get(`/v1/releases/${outside}/preview`)).body["cardsOutside"];
    expect(await missingIn("before")).toEqual([number]);
    expect(await cardsOutside()).toEqual([]);
    await own.person("ada", "PUT", `${pullPath(own, Number(data["prNumber"]))}/merge`);
    await clearedWhen(own.api, "backmerge_open");
    expect(await missingIn("after")).toEqual([]);
    expect(await cardsOutside()).toEqual([{ number, title: "fix" }]);
  });

  it("tags the target of the last merge stage if the release is not frozen", async () => {
    const own = await world.board();
    const main = await headOf(own, "web", "main");
    const refs = `/repos/${own.owner}/web/git/refs`;
    await own.person("ada", "POST", refs, { ref: "refs/heads/production", sha: main });
    const live = await world.forge.commit(`${own.owner}/web`, "production", { "live.txt": "live\n" });
    const flow = await readFlow(own);
    const stages = flow.stages.flatMap((stage) =>
      stage.kind === "done"
        ? [mergeStage("Merged", "stage", null), { ...stage, rule: { type: "merge", into: "production" } }]
        : [stage],
    );
    expect((await own.api.put(flowPath(own), { ...flow, stages })).status).toBe(200);
    const id = await makeRelease(own.api, "Live");
    const response = await complete(own.api, id, [version(own, "web", "v1")]);
    expect(response.body.tags).toMatchObject([{ sha: live }]);
  });
});

// Fault: D14 A tag exists or is forbidden => refused, or adopted at the same commit
describe("the versions of POST /v1/releases/{id}/complete", () => {
  it("are validated before anything is written", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const { number } = await own.api.card();
    const id = await makeRelease(own.api, "Checked", [number]);
    const api = version(own, "api", "v1");
    const web = version(own, "web", "v1");
    const foreign = { repositoryId: board.repositories["web"], tagName: "v1" };
    for (const [versions, path] of [
      [[api], "body.versions"],
      [[web, foreign], "body.versions.1.repositoryId"],
      [[web, web], "body.versions.1.repositoryId"],
      [[web, { ...web, tagName: "v2" }], "body.versions.1.repositoryId"],
    ] as const) {
      const refused = await complete(own.api, id, versions);
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path }] } });
    }
    for (const tagName of [
      "",
      "v 1",
      "v..1",
      "-v1",
      "v1.lock",
      "v1/",
      "a".repeat(240),
      "f".repeat(40),
      "@",
      1,
    ]) {
      const refused = await complete(own.api, id, [{ ...web, tagName }]);
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.versions.0.tagName" }] } });
    }
    const other = await world.forge.commit(`${own.owner}/web`, "main", { "a.txt": "a\n" });
    await own.person("ada", "POST", `/repos/${own.owner}/web/git/refs`, { ref: "refs/tags/v1", sha: other });
    await world.forge.commit(`${own.owner}/web`, "main", { "b.txt": "b\n" });
    const taken = await complete(own.api, id, [api, web]);
    expect([taken.status, taken.body.message]).toEqual([
      409,
      `${own.owner}/web has a tag v1 already, at another commit. Choose another name.`,
    ]);
    expect(await tagOf(own, "api", "v1")).toBeNull();
    expect(await readRelease(own.api, id)).toMatchObject({ status: "open", tags: [] });
    const corrected = await complete(own.api, id, [api, { ...web, tagName: "v2" }]);
    expect(corrected.body).toMatchObject({
      status: "completed",
      tags: [{ tagName: "v1" }, { tagName: "v2" }],
    });
  });

  it.each([
    ["v1", "v1/rc1"],
    ["v1/rc1", "v1"],
  ])("are refused before the first tag if the tag %s is in the way of %s", async (theirs, wanted) => {
    const own = await world.board({ repositories: ["web", "api"] });
    const main = await headOf(own, "web", "main");
    const refs = `/repos/${own.owner}/web/git/refs`;
    await own.person("ada", "POST", refs, { ref: `refs/tags/${theirs}`, sha: main });
    const id = await makeRelease(own.api, "In the way");
    for (const versions of [
      [version(own, "web", wanted)],
      [version(own, "api", wanted), version(own, "web", wanted)],
    ]) {
      const refused = await complete(own.api, id, versions);
      expect([refused.status, refused.body.message]).toEqual([
        409,
        expect.stringContaining(`${own.owner}/web: The tag ${theirs} is in the way of a tag ${wanted}`),
      ]);
    }
    expect(await tagOf(own, "api", wanted)).toBeNull();
    expect(await readRelease(own.api, id)).toMatchObject({ status: "open", tags: [] });
  });

  it("may name a tag that exists at the same commit", async () => {
    const own = await world.board();
    const main = await headOf(own, "web", "main");
    const refs = `/repos/${own.owner}/web/git/refs`;
    await own.person("ada", "POST", refs, { ref: "refs/tags/v1", sha: main });
    const id = await makeRelease(own.api, "Adopted");
    const response = await complete(own.api, id, [version(own, "web", "v1")]);
    expect(response).toMatchObject({ status: 200, body: { tags: [{ tagName: "v1", sha: main }] } });
  });

  it("that were tagged before a refusal keep their tags, and the next call tags the rest", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await makeRelease(own.api, "Halves");
    const versions = [version(own, "api", "v1"), version(own, "web", "v1")];
    const { faults } = world.forge.control;
    const commonCall = failCommonTagCall();
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    const body = { message: "Repository rule violations found", documentation_url: "https://docs.example" };
    faults.add({ match, fault: { kind: "none" }, times: 1 });
    faults.add({ match, fault: { kind: "response", status: 422, body }, times: 1 });
    const sha = await headOf(own, "api", "main");
    const refused = await complete(own.api, id, versions);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${own.owner}/web: Repository rule violations found`,
    ]);
    faults.remove(commonCall);
    const half = await readRelease(own.api, id);
    expect(half).toMatchObject({ status: "open", tags: [{ fullName: `${own.owner}/api`, sha, url: null }] });
    await world.forge.commit(`${own.owner}/api`, "main", { "later.txt": "later\n" });
    const done = await complete(own.api, id, [version(own, "api", "v1"), version(own, "web", "v2")]);
    expect(done.body).toMatchObject({ status: "completed", tags: [{ sha }, { tagName: "v2" }] });
    expect(await tagOf(own, "api", "v1")).toBe(sha);
  });
});

describe("the GitHub release of a version", () => {
  /** A board with a published v2.0.0, whose next release tags `release/1-4`. */
  async function afterVersionTwo() {
    const own = await world.board();
    const older = await makeRelease(own.api, "1.4");
    expect((await freeze(own.api, older)).status).toBe(200);
    const newer = await makeRelease(own.api, "2");
    expect((await complete(own.api, newer, [version(own, "web", "v2.0.0")])).status).toBe(200);
    const latest = async () => {
      const { body } = await own.person("ada", "GET", `/repos/${own.owner}/web/releases/latest`);
      return (body as unknown as { tag_name: string }).tag_name;
    };
    const preview = async (id: string, tagName?: string) => {
      const query = tagName === undefined ? "" : `?tags=${own.repositories["web"]}:${tagName}`;
      const { body } = await own.api.get<{ repositories: { complete: object }[] }>(
        `/v1/releases/${id}/preview${query}`,
      );
      return body.repositories[0]?.complete;
    };
    return { own, older, latest, preview };
  }

  it("is the latest one only for the highest version, and the preview says so", async () => {
    const { own, older, latest, preview } = await afterVersionTwo();
    expect(await latest()).toBe("v2.0.0");
    expect(await preview(older)).toMatchObject({
      suggestedTagName: "v2.1.0",
      latest: true,
      prerelease: false,
    });
    expect(await preview(older, "v1.4.2")).toMatchObject({ latest: false, prerelease: false });
    expect((await complete(own.api, older, [version(own, "web", "v1.4.2")])).status).toBe(200);
    expect(await latest()).toBe("v2.0.0");
    const next = await makeRelease(own.api, "2.1");
    expect((await complete(own.api, next, [version(own, "web", "v2.1.0")])).status).toBe(200);
    expect(await latest()).toBe("v2.1.0");
  });

  it("is a prerelease for a version such as v3.0.0-rc.1, and never the latest", async () => {
    const { own, older, latest, preview } = await afterVersionTwo();
    expect(await preview(older, "v3.0.0-rc.1")).toMatchObject({ prerelease: true, latest: false });
    expect((await complete(own.api, older, [version(own, "web", "v3.0.0-rc.1")])).status).toBe(200);
    expect(await published(own, "web", "v3.0.0-rc.1")).toMatchObject({ prerelease: true });
    expect(await latest()).toBe("v2.0.0");
    const next = await makeRelease(own.api, "3");
    expect(await preview(next)).toMatchObject({
      suggestedTagName: "v3.0.0",
      latest: true,
      prerelease: false,
    });
  });

  it("is as the request says", async () => {
    const { own, older, latest } = await afterVersionTwo();
    const both = { ...version(own, "web", "v1.4.2"), prerelease: true, latest: true };
    const refused = await complete(own.api, older, [both]);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.versions.0.latest" }] } });
    const wanted = { ...version(own, "web", "v1.4.2-beta"), prerelease: false, latest: true };
    expect((await complete(own.api, older, [wanted])).status).toBe(200);
    expect(await published(own, "web", "v1.4.2-beta")).toMatchObject({ prerelease: false });
    expect(await latest()).toBe("v1.4.2-beta");
    const next = await makeRelease(own.api, "Quiet");
    const notes = "Faster, thanks to @ada and #1.";
    const quiet = { ...version(own, "web", "v9.0.0"), latest: false, notes };
    expect((await complete(own.api, next, [quiet])).status).toBe(200);
    expect((await published(own, "web", "v9.0.0")).body.replaceAll("\u200D", "")).toBe(notes);
    expect((await published(own, "web", "v9.0.0")).body).not.toMatch(/@ada|#1/);
    expect(await latest()).toBe("v1.4.2-beta");
  });

  it("is ranked by GitHub if the tags cannot be listed", async () => {
    const { own, older, latest } = await afterVersionTwo();
    const { faults } = world.forge.control;
    const fault = faults.add({ match: { operation: "TagList" }, fault: { kind: "response", status: 502 } });
    expect((await complete(own.api, older, [version(own, "web", "v1.4.2")])).status).toBe(200);
    expect(await latest()).toBe("v2.0.0");
    const next = await makeRelease(own.api, "2.1");
    expect((await complete(own.api, next, [version(own, "web", "v2.1.0")])).status).toBe(200);
    expect(await latest()).toBe("v2.1.0");
    faults.remove(fault);
  });

  it("is previewed without its version's rank while GitHub does not list the tags", async () => {
    const { older, preview } = await afterVersionTwo();
    const { faults } = world.forge.control;
    const fault = faults.add({ match: { operation: "TagList" }, fault: { kind: "response", status: 502 } });
    expect(await preview(older)).toMatchObject({ suggestedTagName: null, prerelease: null, latest: null });
    expect(await preview(older, "v2.0.0-rc.1")).toMatchObject({ prerelease: true, latest: false });
    faults.remove(fault);
  });
});

describe("a completion whose tag GitHub does not release", () => {
  /** A board where GitHub has locked the tag `v1` of a deleted release in `web`. */
  async function withUsedTag() {
    const own = await world.board({ repositories: ["web", "api"] });
    const releases = `/repos/${own.owner}/web/releases`;
    world.forge.webUi.setImmutableReleases(`${own.owner}/web`, true);
    const made = await own.person("ada", "POST", releases, { tag_name: "v1", target_commitish: "main" });
    const { id: releaseId } = made.body as unknown as { id: number };
    await own.person("ada", "DELETE", `${releases}/${releaseId}`);
    const { number } = await own.api.card();
    const id = await makeRelease(own.api, "Used", [number]);
    expect((await freeze(own.api, id)).status).toBe(200);
    const versions = [version(own, "api", "v1"), version(own, "web", "v1")];
    const refused = await complete(own.api, id, versions);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${own.owner}/web: tag_name was used by an immutable release`,
    ]);
    return { own, id };
  }

  it("continues with another tag where nothing was published", async () => {
    const { own, id } = await withUsedTag();
    expect((await readRelease(own.api, id)).tags).toMatchObject([
      { tagName: "v1", url: expect.any(String) },
      { tagName: "v1", url: null },
    ]);
    const { body } = await own.api.get(`/v1/releases/${id}/preview`);
    expect(body["repositories"]).toMatchObject([
      { complete: { tagName: "v1", isPublished: true } },
      { complete: { tagName: "v1", isPublished: false } },
    ]);
    const renamed = await complete(own.api, id, [version(own, "api", "v2"), version(own, "web", "v2")]);
    expect([renamed.status, renamed.body.message]).toEqual([
      409,
      `${own.owner}/api has a GitHub release v1 for this release already. Request the same tag.`,
    ]);
    const other = { ...version(own, "api", "v1"), prerelease: true, latest: false, notes: "Other" };
    const changed = await complete(own.api, id, [other, version(own, "web", "v2")]);
    expect([changed.status, changed.body.message]).toEqual([
      409,
      `${own.owner}/api has a GitHub release v1 for this release already. Repeat the call without prerelease, latest, notes. Edit the GitHub release to change them.`,
    ]);
    const same = { ...version(own, "api", "v1"), prerelease: false, latest: true };
    const done = await complete(own.api, id, [same, version(own, "web", "v2")]);
    expect(done).toMatchObject({
      status: 200,
      body: { status: "completed", tags: [{ tagName: "v1" }, { tagName: "v2", url: expect.any(String) }] },
    });
    expect(await tagOf(own, "web", "v2")).toBe(await headOf(own, "web", "release/used"));
  });

  it("can be given up by deleting the frozen release, which keeps what is on GitHub", async () => {
    const { own, id } = await withUsedTag();
    const heads = await headOf(own, "web", "release/used");
    expect((await own.api.delete(`/v1/releases/${id}`)).status).toBe(204);
    expect((await own.api.get(`/v1/releases/${id}`)).status).toBe(404);
    expect(await headOf(own, "web", "release/used")).toBe(heads);
    expect(await published(own, "api", "v1")).toMatchObject({ name: "Used" });
  });

  it("continues without a repository that has left the project, whose GitHub release stays", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await makeRelease(own.api, "Left");
    const match = { method: "POST", path: "/repositories/*/releases" };
    const { faults } = world.forge.control;
    faults.add({ match, fault: { kind: "none" }, times: 1 });
    faults.add({ match, fault: { kind: "response", status: 422, body: { message: "Invalid" } }, times: 1 });
    const versions = [version(own, "api", "v1"), version(own, "web", "v1")];
    expect((await complete(own.api, id, versions)).status).toBe(409);
    const path = `/v1/projects/${own.projectId}/repositories`;
    const left = await own.api.put(path, { repositories: [{ id: own.repositories["web"] }] });
    expect(left.status).toBe(200);
    expect((await complete(own.api, id, [version(own, "web", "v1")])).body).toMatchObject({
      status: "completed",
      tags: [{ fullName: `${own.owner}/api`, url: expect.any(String) }, { fullName: `${own.owner}/web` }],
    });
  });

  it("was interrupted, and continues with another tag as that of the caller who changes it", async () => {
    const own = await world.board();
    const other = await own.as({ role: "maintainer" });
    const { number } = await own.api.card();
    const id = await makeRelease(own.api, "Interrupted", [number]);
    const { faults } = world.forge.control;
    const match = { method: "POST", path: "/repositories/*/releases" };
    faults.add({ match, fault: { kind: "response", status: 502 } });
    const away = await complete(own.api, id, [version(own, "web", "v1")], { key: "interrupted-completion" });
    expect(away.status).toBe(503);
    const sha = await tagOf(own, "web", "v1");
    // A job may be working on it.
    await eventually(
      () => complete(other, id, [version(own, "web", "v2")]),
      ({ status }) => status === 503,
    );
    faults.clear();
    const { tags } = await eventually(
      async () => {
        await complete(own.api, id, [version(own, "web", "v2")]);
        return readRelease(own.api, id);
      },
      ({ status }) => status === "completed",
    );
    expect(tags).toMatchObject([{ tagName: "v2", sha }]);
    const clientId = other.apiKey.split("_")[1];
    const { user_id: userId } = await own.db("credentials").where({ client_id: clientId }).first("user_id");
    const completed = (await own.api.timeline(number)).find(({ kind }) => kind === "release_completed");
    expect(completed?.actor.user).toMatchObject({ id: userId });
  });
});

describe("a completion whose GitHub release was published without a response", () => {
  /** A completion that is interrupted after GitHub has published v1 in `web`. */
  async function publishedUnseen() {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await makeRelease(own.api, "Unseen");
    const { faults } = world.forge.control;
    const lost = { kind: "response", status: 502, effect: "after" } as const;
    faults.add({ match: { method: "POST", path: "/repositories/*/releases" }, fault: lost });
    faults.add({
      match: { method: "GET", path: "/repositories/*/releases/tags/*" },
      fault: { kind: "response", status: 502 },
    });
    const first = [version(own, "web", "v1")];
    expect((await complete(own.api, id, first, { key: "published-unseen" })).status).toBe(503);
    expect((await readRelease(own.api, id)).tags).toMatchObject([{ tagName: "v1", url: null }]);
    return {
      own,
      id,
      /** The result of a call with these versions, which began before GitHub responds again. */
      completeLater: async (versions: Parameters<typeof complete>[2]) => {
        // A job may be working on it.
        await eventually(
          () => complete(own.api, id, versions),
          ({ status }) => status === 503,
        );
        faults.clear();
        return eventually(
          () => complete(own.api, id, versions),
          ({ body }) => !body.message.includes("is being completed"),
        );
      },
      releases: async (repository: string) => {
        const { body } = await own.person("ada", "GET", `/repos/${own.owner}/${repository}/releases`);
        return (body as unknown as { tag_name: string }[]).map(({ tag_name: tagName }) => tagName);
      },
    };
  }

  // Fault: C2
  it("keeps that release and refuses another tag", async () => {
    const { own, id, completeLater, releases } = await publishedUnseen();
    const refused = await completeLater([version(own, "api", "v2"), version(own, "web", "v2")]);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${own.owner}/web has a GitHub release v1 for this release already. Request the same tag.`,
    ]);
    expect([await releases("web"), await releases("api")]).toEqual([["v1"], []]);
    expect(await readRelease(own.api, id)).toMatchObject({
      status: "open",
      tags: [{ tagName: "v1", url: (await published(own, "web", "v1")).html_url }],
    });
    const done = await complete(own.api, id, [version(own, "api", "v2"), version(own, "web", "v1")]);
    expect(done.body).toMatchObject({ status: "completed", tags: [{ tagName: "v2" }, { tagName: "v1" }] });
    expect(await releases("web")).toEqual(["v1"]);
  });

  it("keeps that release and refuses other notes", async () => {
    const { own, completeLater } = await publishedUnseen();
    const notes = "Written later";
    const refused = await completeLater([{ ...version(own, "web", "v1"), notes }]);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${own.owner}/web has a GitHub release v1 for this release already. Repeat the call without notes. Edit the GitHub release to change them.`,
    ]);
    expect((await published(own, "web", "v1")).body).not.toContain(notes);
  });

  it("keeps that release if its repository gets no version any more", async () => {
    const { own, id, completeLater } = await publishedUnseen();
    const refused = await completeLater([version(own, "api", "v1")]);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${own.owner}/web has a GitHub release v1 for this release already. Request the same tag.`,
    ]);
    expect((await readRelease(own.api, id)).tags).toMatchObject([{ tagName: "v1", url: expect.any(String) }]);
  });
});

describe("the completion in several repositories", () => {
  const NAMES = ["api", "docs", "web"];

  /** A completion whose request for the tags waits at GitHub until `release` is called. */
  async function waitingForTags() {
    const own = await world.board({ repositories: NAMES });
    const id = await makeRelease(own.api, "Several");
    const shas = await Promise.all(NAMES.map((name) => headOf(own, name, "main")));
    const tagging = holdCalls(world, { operation: "CreateTags" }, "before");
    const completing = complete(
      own.api,
      id,
      NAMES.map((name) => version(own, name, "v1")),
    );
    await tagging.arrived();
    return {
      own,
      id,
      shas,
      createTag: (name: string, sha: string) =>
        own.person("ada", "POST", `/repos/${own.owner}/${name}/git/refs`, { ref: "refs/tags/v1", sha }),
      release: async () => {
        tagging.resume();
        return completing;
      },
    };
  }

  it("returns 409 if a person creates a tag at another commit during it, and stores the other tags", async () => {
    const { own, id, shas, createTag, release } = await waitingForTags();
    const [api, docs, web] = shas;
    const theirs = await world.forge.commit(`${own.owner}/docs`, "aside", { "a.txt": "a\n" });
    await createTag("docs", theirs);
    await world.forge.commit(`${own.owner}/web`, "main", { "later.txt": "later\n" });
    const refused = await release();
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${own.owner}/docs has a tag v1 already, at another commit. Choose another name.`,
    ]);
    expect(await readRelease(own.api, id)).toMatchObject({
      status: "open",
      tags: [
        { fullName: `${own.owner}/api`, tagName: "v1", sha: api, url: null },
        { fullName: `${own.owner}/web`, tagName: "v1", sha: web, url: null },
      ],
    });
    expect(await Promise.all(NAMES.map((name) => tagOf(own, name, "v1")))).toEqual([api, theirs, web]);
    const versions = NAMES.map((name) => version(own, name, name === "docs" ? "v2" : "v1"));
    const done = await complete(own.api, id, versions);
    expect(done.body).toMatchObject({
      status: "completed",
      tags: [{ sha: api }, { sha: docs }, { sha: web }],
    });
    expect(done.body.tags.map(({ url }) => url)).toEqual(NAMES.map(() => expect.any(String)));
    expect(await tagOf(own, "docs", "v1")).toBe(theirs);
  });

  // Fault: C2
  it("finds its tags after a lost response", async () => {
    const own = await world.board({ repositories: NAMES });
    const id = await makeRelease(own.api, "Lost");
    const shas = await Promise.all(NAMES.map((name) => headOf(own, name, "main")));
    failCommonTagCall("after");
    const versions = NAMES.map((name) => version(own, name, "v1"));
    expect((await complete(own.api, id, versions)).body).toMatchObject({
      status: "completed",
      tags: shas.map((sha) => ({ sha })),
    });
    world.forge.control.faults.clear();
  });

  it("accepts a tag that a person creates at the same commit during it", async () => {
    const { own, shas, createTag, release } = await waitingForTags();
    await createTag("docs", shas[1]!);
    expect((await release()).body).toMatchObject({ status: "completed", tags: shas.map((sha) => ({ sha })) });
    expect(await Promise.all(NAMES.map((name) => tagOf(own, name, "v1")))).toEqual(shas);
  });
});

describe("the completion in one repository", () => {
  const TAG = "POST /repos/{owner}/{repo}/git/refs";
  const PUBLISH = "POST /repos/{owner}/{repo}/releases";

  /** A board with a trunk that a push webhook reported, and a release. */
  async function releaseWithKnownTrunk(frozen = false) {
    const own = await world.board();
    await push(own, "main", "reported.txt");
    await settled(world);
    const id = await makeRelease(own.api, "One");
    if (frozen) await freeze(own.api, id);
    const completed = (key: string) => complete(own.api, id, [version(own, "web", "v1")], { key });
    return { own, id, completed };
  }
  const createRef = (own: TestBoard, ref: string, sha: string | null) =>
    own.person("ada", "POST", `/repos/${own.owner}/web/git/refs`, { ref, sha });

  it.each([
    ["main", false],
    ["release/one", true],
  ])("tags the tip of %s, even before the webhook of the last push", async (branch, frozen) => {
    const { own, completed } = await releaseWithKnownTrunk(frozen);
    holdWebhooks(world);
    const head = await world.forge.commit(`${own.owner}/web`, branch, { "late.txt": "late\n" });
    const calls = await callsOf(world, async () =>
      expect((await completed("the-push-is-held")).body.tags).toMatchObject([{ sha: head }]),
    );
    expect(calls).toEqual(["UpdateRefs", "Tagging", TAG, "TagList", PUBLISH]);
    expect(await tagOf(own, "web", "v1")).toBe(head);
    await releaseWebhooks(world);
  });

  it("returns 409 and writes nothing if the tag exists at another commit", async () => {
    const { own, id, completed } = await releaseWithKnownTrunk();
    const main = await headOf(own, "web", "main");
    const other = await world.forge.commit(`${own.owner}/web`, "aside", { "a.txt": "a\n" });
    await createRef(own, "refs/tags/v1", other);
    const refused = await completed("the-tag-is-taken");
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${own.owner}/web has a tag v1 already, at another commit. Choose another name.`,
    ]);
    expect(await readRelease(own.api, id)).toMatchObject({ status: "open", tags: [] });
    expect([await tagOf(own, "web", "v1"), await headOf(own, "web", "main")]).toEqual([other, main]);
  });

  it("accepts a tag at the same commit, even before its webhook", async () => {
    const { own, completed } = await releaseWithKnownTrunk();
    holdWebhooks(world);
    const late = await world.forge.commit(`${own.owner}/web`, "main", { "late.txt": "late\n" });
    await createRef(own, "refs/tags/v1", late);
    expect((await completed("the-tag-is-there")).body.tags).toMatchObject([{ sha: late }]);
    await releaseWebhooks(world);
  });

  it("reads the branch before the tag if the branch is protected", async () => {
    const { own, completed } = await releaseWithKnownTrunk();
    const restrictions = { users: ["ada"], teams: [], apps: [] };
    expect((await protect(own, { restrictions })).status).toBe(200);
    const main = await headOf(own, "web", "main");
    const calls = await callsOf(world, () => completed("the-branch-is-protected"));
    expect(calls).toEqual(["UpdateRefs", "Tagging", TAG, "TagList", PUBLISH]);
    expect(await tagOf(own, "web", "v1")).toBe(main);
  });

  it.each([
    ["tags the current tip if the request for the tag was lost", "before", false],
    ["keeps the tag if the response to its creation was lost", "after", true],
  ] as const)("%s", async (_, effect, isThere) => {
    const { own, completed } = await releaseWithKnownTrunk();
    const main = await headOf(own, "web", "main");
    const { faults } = world.forge.control;
    faults.add({ match: { operation: "UpdateRefs" }, fault: { kind: "response", status: 502, effect } });
    faults.add({ match: { operation: "Ref" }, fault: { kind: "response", status: 502 } });
    const key = "one-tag-while-it-is-away";
    expect((await completed(key)).status).toBe(503);
    expect(await tagOf(own, "web", "v1")).toBe(isThere ? main : null);
    const later = await world.forge.commit(`${own.owner}/web`, "main", { "later.txt": "later\n" });
    faults.clear();
    const done = await completed(key);
    const sha = isThere ? main : later;
    expect(done.body).toMatchObject({ status: "completed", tags: [{ tagName: "v1", sha }] });
    expect(await tagOf(own, "web", "v1")).toBe(sha);
  });
});

describe("the completion during an outage of GitHub", () => {
  it.each([
    ["the first tag", "/repositories/*/git/refs", 0],
    ["the last tag", "/repositories/*/git/refs", 1],
    ["the first GitHub release", "/repositories/*/releases", 0],
    ["the last GitHub release", "/repositories/*/releases", 1],
  ] as const)("at %s tags the stored commits when it is repeated", async (_, path, passing) => {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await makeRelease(own.api, "Away");
    const versions = [version(own, "api", "v1"), version(own, "web", "v1")];
    const { faults } = world.forge.control;
    failCommonTagCall();
    if (passing > 0) faults.add({ match: { method: "POST", path }, fault: { kind: "none" }, times: passing });
    faults.add({ match: { method: "POST", path }, fault: { kind: "response", status: 502 }, times: 3 });
    const key = "complete-while-it-is-away";
    const mains = [await headOf(own, "api", "main"), await headOf(own, "web", "main")];
    const away = await complete(own.api, id, versions, { key });
    expect([away.status, Number(away.headers.get("retry-after")) > 0]).toEqual([503, true]);
    await world.forge.commit(`${own.owner}/web`, "main", { "later.txt": "later\n" });
    faults.clear();
    const done = await complete(own.api, id, versions, { key });
    expect(done.body.tags.map(({ sha }) => sha)).toEqual(mains);
    expect([await tagOf(own, "api", "v1"), await tagOf(own, "web", "v1")]).toEqual(mains);
    const { body } = await own.person("ada", "GET", `/repos/${own.owner}/api/releases`);
    expect(body).toHaveLength(1);
  });
});

// Fault: C11
describe("the completion while reads lag", () => {
  it.each([[["web"]], [["api", "web"]]])(
    "tags and publishes once in %s although the responses to all writes are lost",
    async (names) => {
      const own = await world.board({ repositories: ["web", "api"] });
      const id = await makeRelease(own.api, "Lagging");
      const versions = names.map((name) => version(own, name, "v1"));
      const { control } = world.forge;
      const fault = { kind: "response", status: 502, effect: "after" } as const;
      for (const operation of ["UpdateRefs", "CreateTags"])
        control.faults.add({ match: { operation }, fault, times: 1 });
      for (const path of ["/repositories/*/git/refs", "/repositories/*/releases"])
        control.faults.add({ match: { method: "POST", path }, fault, times: names.length });
      // Longer than the test takes on a slow machine.
      const settings = { seconds: 600 };
      const completed = () => complete(own.api, id, versions, { key: "complete-while-reads-lag" });
      control.setStaleReads(settings);
      // Reads show the tags now; then they do not show the GitHub releases yet.
      expect((await completed()).status).toBe(503);
      control.setStaleReads(null);
      control.setStaleReads(settings);
      expect((await completed()).status).toBe(503);
      control.setStaleReads(null);
      const done = await eventually(completed, ({ status }) => status !== 503);
      expect(done).toMatchObject({ status: 200, body: { status: "completed" } });
      for (const name of names) {
        expect(await tagOf(own, name, "v1")).toBe(await headOf(own, name, "main"));
        const { body } = await own.person("ada", "GET", `/repos/${own.owner}/${name}/releases`);
        expect(body).toHaveLength(1);
      }
    },
  );
});
