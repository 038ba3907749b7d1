import { beforeAll, describe, expect, it } from "@jest/globals";
import { flowPath, readFlow } from "../support/flows.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { makeRelease, readRelease, setCards, type ReleaseResponse } from "../support/stories/releases.ts";
import { cardInReview, mergedCard } from "../support/stories/merged-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const numbersOf = ({ cards }: ReleaseResponse): number[] => cards.map(({ number }) => number);
const list = async (query = ""): Promise<ReleaseResponse[]> =>
  (await board.api.get<ReleaseResponse[]>(`/v1/releases${query}`)).body;

describe("a release", () => {
  it("is created by a member, open and empty, in the project of the query", async () => {
    const api = await board.as({ role: "member" });
    const created = await api.post<ReleaseResponse>(`/v1/releases?projectId=${board.projectId}`, {
      name: " 1.4 ",
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      projectId: board.projectId,
      name: "1.4",
      status: "open",
      frozenAt: null,
      taskCount: 0,
      createdByName: "member agent",
      completedAt: null,
      tags: [],
    });
    const { cards, repositories, ...rest } = await readRelease(board.api, created.body.id);
    expect(rest).toEqual(created.body);
    expect(cards).toEqual([]);
    expect(repositories).toEqual([
      {
        repositoryId: board.repositories["web"],
        fullName: `${board.owner}/web`,
        branchName: null,
        headSha: null,
        holdsCards: false,
      },
    ]);
  });

  // Contract: Releases: A release's name has 1 to 80 characters
  it.each([
    [{}, "body.name"],
    [{ name: " " }, "body.name"],
    [{ name: "x".repeat(81) }, "body.name"],
    [{ name: "x", projectId: UNKNOWN_ID }, "body.projectId"],
    [{ name: "x", status: "completed" }, "body.status"],
  ])("is not created from %j", async (body, path) => {
    const refused = await board.api.post("/v1/releases", body);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path }] } });
  });

  // Contract: Releases: A release's name has 1 to 80 characters
  it("may have a name of 80 characters and the name of another release", async () => {
    const first = await makeRelease(board.api, "🚀".repeat(80));
    const second = await makeRelease(board.api, "🚀".repeat(80));
    expect((await list()).map(({ id }) => id).slice(0, 2)).toEqual([second, first]);
  });

  // Contract: Releases: `GET /v1/releases` lists open and completed releases
  it("is listed newest first, and in pages", async () => {
    const own = await world.board();
    const ids: string[] = [];
    for (const name of ["1", "2", "3"]) ids.unshift(await makeRelease(own.api, name));
    const first = await own.api.get<ReleaseResponse[]>("/v1/releases?limit=2");
    const next = /<([^>]+)>/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    const rest = await own.api.get<ReleaseResponse[]>(next);
    expect([...first.body, ...rest.body].map(({ id }) => id)).toEqual(ids);
  });

  // Contract: Releases: Deleting a release is 204, for maintainers; its cards stay
  it("is deleted by a maintainer, and its cards can join another release", async () => {
    const { number } = await board.api.card();
    const id = await makeRelease(board.api, "Never", [number]);
    expect((await (await board.as({ role: "member" })).delete(`/v1/releases/${id}`)).status).toBe(403);
    expect((await board.api.delete(`/v1/releases/${id}`)).status).toBe(204);
    expect((await board.api.get(`/v1/releases/${id}`)).status).toBe(404);
    const other = await makeRelease(board.api, "Later", [number]);
    expect(numbersOf(await readRelease(board.api, other))).toEqual([number]);
  });

  it("of another board returns the same 404 as an unknown one", async () => {
    const other = await world.board();
    const foreign = await makeRelease(other.api, "Theirs");
    for (const id of [foreign, UNKNOWN_ID]) {
      const responses = [
        await board.api.get(`/v1/releases/${id}`),
        await setCards(board.api, id, []),
        await board.api.delete(`/v1/releases/${id}`),
      ];
      for (const response of responses) {
        expect(response).toMatchObject({
          status: 404,
          body: { message: "There is no release with this id on this board." },
        });
      }
    }
    const createdThere = await board.api.post(`/v1/releases?projectId=${other.projectId}`, { name: "x" });
    expect(createdThere.status).toBe(404);
  });

  // Contract: Board and projects: `projectId` is optional with one project and required (400) with several
  it("needs `projectId` on a board with several projects", async () => {
    const own = await world.board();
    const second = await own.api.post("/v1/projects", { name: "Second" });
    expect((await own.api.get("/v1/releases")).status).toBe(400);
    expect((await own.api.post("/v1/releases", { name: "x" })).status).toBe(400);
    const projectId = String(second.body["id"]);
    const created = await own.api.post<ReleaseResponse>(`/v1/releases?projectId=${projectId}`, { name: "x" });
    expect(created.status).toBe(201);
    expect((await own.api.get(`/v1/releases?projectId=${own.projectId}`)).body).toEqual([]);
    const { number } = await own.api.card({ projectId: own.projectId });
    const scoped = await setCards(own.api, created.body.id, [number]);
    expect(scoped).toMatchObject({
      status: 400,
      body: {
        issues: [{ path: "body.taskNumbers.0", message: `card ${number} belongs to another project` }],
      },
    });
    expect((await own.api.delete(`/v1/projects/${projectId}`)).status).toBe(204);
    expect((await own.api.get(`/v1/releases/${created.body.id}`)).status).toBe(404);
  });

  // Contract: Releases: With releases turned off, release writes are 400 and name the flow settings
  it("is read-only while the flow has releases turned off", async () => {
    const own = await world.board();
    const id = await makeRelease(own.api, "Before");
    const flow = await readFlow(own);
    expect((await own.api.put(flowPath(own), { ...flow, releases: false })).status).toBe(200);
    const writes = [
      await own.api.post("/v1/releases", { name: "x" }),
      await setCards(own.api, id, []),
      await own.api.delete(`/v1/releases/${id}`),
    ];
    for (const { status, body } of writes) {
      expect([status, (body as { message: string }).message]).toEqual([
        400,
        expect.stringMatching(
          /^This flow does not work with releases\. Turn it on in the flow settings: PUT /,
        ),
      ]);
    }
    expect((await own.api.get(`/v1/releases/${id}`)).status).toBe(200);
    expect((await own.api.get("/v1/releases")).body).toHaveLength(1);
  });
});

describe("the scope of a release", () => {
  // Contract: Releases: `PUT /v1/releases/{id}/cards` replaces the whole scope, at most 500 cards
  it("is replaced by each call, and an added card has a timeline event", async () => {
    const numbers = [
      (await board.api.card()).number,
      (await board.api.card()).number,
      (await board.api.card()).number,
    ];
    const [a = 0, b = 0, c = 0] = numbers;
    const id = await makeRelease(board.api, "1.5", [b, a, a]);
    expect(await readRelease(board.api, id)).toMatchObject({
      taskCount: 2,
      cards: [{ number: a, title: "A card", statusId: board.stages.Backlog, pickedAt: null }, { number: b }],
      repositories: [{ holdsCards: true }],
    });
    const replaced = await setCards(board.api, id, [b, c]);
    expect([replaced.status, replaced.text]).toEqual([204, ""]);
    expect(numbersOf(await readRelease(board.api, id))).toEqual([b, c]);
    for (const number of numbers) {
      const added = (await board.api.timeline(number)).filter(({ kind }) => kind === "release_added");
      expect(added.map(({ data }) => data)).toEqual([{ releaseId: id, releaseName: "1.5" }]);
    }
    expect((await setCards(board.api, id, [])).status).toBe(204);
    expect(numbersOf(await readRelease(board.api, id))).toEqual([]);
  });

  it.each([["7"], [1.5], [0], [-1], [null], [4_000_000_000]])(
    "returns 400 for the card number %j",
    async (wrong) => {
      const id = await makeRelease(board.api, "Strict");
      const refused = await setCards(board.api, id, [wrong]);
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.taskNumbers.0" }] } });
    },
  );

  // Contract: Releases: `PUT /v1/releases/{id}/cards` replaces the whole scope, at most 500 cards
  it("has at most 500 card numbers", async () => {
    const { number } = await board.api.card();
    const id = await makeRelease(board.api, "Large");
    expect((await setCards(board.api, id, Array(500).fill(number))).status).toBe(204);
    expect((await setCards(board.api, id, Array(501).fill(number))).status).toBe(400);
  });

  it("does not change if a card is unknown; the 404 lists the unknown numbers", async () => {
    const { number } = await board.api.card();
    const id = await makeRelease(board.api, "Typo");
    const refused = await setCards(board.api, id, [number, 4711]);
    expect(refused).toMatchObject({
      status: 404,
      body: { message: "There is no card 4711 on this board.", error: "Not Found", statusCode: 404 },
    });
    expect((await setCards(board.api, id, [4711, 4712])).body).toMatchObject({
      message: "There are no cards 4711, 4712 on this board.",
    });
    expect(numbersOf(await readRelease(board.api, id))).toEqual([]);
  });

  it("cannot include a card of another open release", async () => {
    const { number } = await board.api.card();
    await makeRelease(board.api, "First come", [number]);
    const second = await makeRelease(board.api, "Second");
    const refused = await setCards(board.api, second, [number]);
    expect(refused.status).toBe(409);
    expect((refused.body as { message: string }).message).toContain(
      `Card ${number} is in the open release First come.`,
    );
  });

  it("gets a card in one release only if several request it concurrently", async () => {
    const numbers: number[] = [];
    for (let created = 0; created < 5; created++) numbers.push((await board.api.card()).number);
    const releases: string[] = [];
    for (let nth = 0; nth < 6; nth++) releases.push(await makeRelease(board.api, `Race ${nth}`));
    const responses = await Promise.all(
      releases.map((id, at) => setCards(board.api, id, at % 2 === 0 ? numbers : numbers.toReversed())),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([204, 409, 409, 409, 409, 409]);
    const scopes = await Promise.all(releases.map((id) => readRelease(board.api, id)));
    expect(scopes.flatMap(numbersOf)).toEqual(numbers);
  });

  it("loses a card that is deleted", async () => {
    const { number } = await board.api.card();
    const id = await makeRelease(board.api, "Shrinking", [number]);
    expect((await board.api.delete(`/v1/cards/${number}`)).status).toBe(204);
    expect(await readRelease(board.api, id)).toMatchObject({ taskCount: 0, cards: [] });
  });

  it("is changed by members only, and once per key", async () => {
    const { number } = await board.api.card();
    const id = await makeRelease(board.api, "Roles");
    const viewer = await board.as({ role: "viewer" });
    expect((await setCards(viewer, id, [number])).status).toBe(403);
    const member = await board.as({ role: "member" });
    const key = "scope-of-a-release";
    expect((await setCards(member, id, [number], { key })).status).toBe(204);
    const again = await setCards(member, id, [number], { key });
    expect([again.status, again.headers.get("idempotent-replay")]).toEqual([204, "true"]);
  });
});

describe("the preview of a release", () => {
  it("names the branches, the tagged branch and the notes, before and after the freeze", async () => {
    const own = await world.board();
    const { number } = await own.api.card({ title: "Say hello" });
    const id = await makeRelease(own.api, "Spring 1", [number]);
    const path = `/v1/releases/${id}/preview`;
    const repository = {
      repositoryId: own.repositories["web"],
      fullName: `${own.owner}/web`,
      holdsCards: true,
    };
    const branch = { branchName: "release/spring-1", startsFrom: "main" };
    const notes = `- Card ${number}: Say hello (not in this release)`;
    const untagged = { isPublished: false, suggestedTagName: null, prerelease: null, latest: null };
    world.forge.control.calls.reset();
    expect((await own.api.get(path)).body).toEqual({
      repositories: [
        {
          ...repository,
          freeze: branch,
          complete: { branchName: "main", sha: null, tagName: null, ...untagged, notes },
        },
      ],
      missingCards: [number],
      unmergedCards: [number],
      cardsOutside: [],
      unfreezeRefusal: null,
    });
    expect(world.forge.control.calls.read().total).toBe(1);
    for (const tags of ["v1", `${UNKNOWN_ID}:`, `web:v1`, `${UNKNOWN_ID}:v 1`, `${UNKNOWN_ID}:v1,`])
      expect(await own.api.get(`${path}?tags=${encodeURIComponent(tags)}`)).toMatchObject({
        status: 400,
        body: { issues: [{ path: "query.tags" }] },
      });
    expect((await own.api.post(`/v1/releases/${id}/freeze`)).status).toBe(200);
    const [frozen] = (await readRelease(own.api, id)).repositories;
    expect((await own.api.get(path)).body).toEqual({
      repositories: [
        {
          ...repository,
          freeze: branch,
          complete: {
            branchName: "release/spring-1",
            sha: frozen?.headSha,
            tagName: null,
            ...untagged,
            notes,
          },
        },
      ],
      missingCards: [number],
      unmergedCards: [number],
      cardsOutside: [],
      unfreezeRefusal: null,
    });
  });

  it("names the cards outside the release whose merged work a freeze would include", async () => {
    const own = await world.board();
    const merged = (title: string) => mergedCard(world, own, { web: { [`${title}.txt`]: "x\n" } }, title);
    const [first, planned, loose] = [await merged("first"), await merged("planned"), await merged("loose")];
    const unmerged = await cardInReview(world, own, { web: { "open.txt": "x\n" } });
    const id = await makeRelease(own.api, "1.0", [first]);
    await makeRelease(own.api, "2.0", [planned, unmerged]);
    const outside = async (release: string) => {
      const { body } = await own.api.get(`/v1/releases/${release}/preview`);
      return body["cardsOutside"];
    };
    expect(await outside(id)).toEqual([
      { number: loose, title: "loose" },
      { number: planned, title: "planned" },
    ]);
    const versions = [{ repositoryId: own.repositories["web"], tagName: "v1.0" }];
    expect((await own.api.post(`/v1/releases/${id}/complete`, { versions })).status).toBe(200);
    const next = await makeRelease(own.api, "1.1");
    // The completed release has announced its card.
    expect(await outside(next)).toMatchObject([{ number: loose }, { number: planned }]);
    expect((await own.api.post(`/v1/releases/${next}/freeze`)).status).toBe(200);
    expect(await outside(next)).toEqual([]);
  });

  it("names no missing cards without repositories, and neither does the completed release", async () => {
    const own = await world.board();
    await own.api.put(`/v1/projects/${own.projectId}/repositories`, { repositories: [] });
    const { number } = await own.api.card({ title: "Only on the board" });
    const id = await makeRelease(own.api, "Plain", [number]);
    expect((await own.api.get(`/v1/releases/${id}/preview`)).body).toEqual({
      repositories: [],
      missingCards: [],
      unmergedCards: [],
      cardsOutside: [],
      unfreezeRefusal: null,
    });
    expect((await own.api.post(`/v1/releases/${id}/complete`, { versions: [] })).status).toBe(200);
    expect(await readRelease(own.api, id)).toMatchObject({ missingCount: 0, cards: [{ isMissing: false }] });
  });

  it("is of this board only, and so is the running operation", async () => {
    const other = await world.board();
    const id = await makeRelease(board.api, "Ours");
    for (const part of ["preview", "operation"]) {
      expect((await other.api.get(`/v1/releases/${id}/${part}`)).status).toBe(404);
    }
    expect((await board.api.get(`/v1/releases/${id}/operation`)).body).toEqual({ operation: null });
  });
});
