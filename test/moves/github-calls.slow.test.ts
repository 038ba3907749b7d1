/** The most calls to GitHub that each action may make in one, two and, for tags, three repositories. */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { callsOf } from "../support/forge/count-calls.ts";
import { settled } from "../support/database/database-content.ts";
import { deliver } from "../support/forge/deliveries.ts";
import { complete, freeze, makeRelease } from "../support/stories/releases.ts";
import { sampleCalls } from "../support/routes.ts";
import { callSample, sampleOf } from "../support/samples.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import { headOf } from "../support/stories/merged-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
beforeAll(async () => {
  await world.service.deps.forge.identity();
});

type Act = () => Promise<unknown>;

interface Action {
  readonly action: string;
  /** The most calls for so many repositories. */
  readonly atMost: (repositories: number) => number;
  /** Creates what the action needs and returns the call that is counted. */
  readonly prepare: (board: TestBoard) => Promise<Act>;
}

const each = (calls: number) => (repositories: number) => calls * repositories;
const forAll = (calls: number) => () => calls;

const names = ({ repositories }: TestBoard): string[] => Object.keys(repositories);

const makeCard = (board: TestBoard) => board.api.card({ repositoryIds: Object.values(board.repositories) });

/** Moves a card; throws with the response if it is refused. */
async function moveTo(board: TestBoard, number: number, stage: keyof TestBoard["stages"]): Promise<void> {
  const { status, text } = await board.api.move(number, board.stages[stage]);
  if (status !== 200) throw new Error(text);
}

/** Commits to a branch in every repository, as a person does on GitHub's pages. */
async function pushAll(board: TestBoard, branch: string, file = "pushed.txt"): Promise<void> {
  for (const name of names(board)) {
    const path = `/repos/${board.owner}/${name}/contents/${file}`;
    const content = Buffer.from(branch).toString("base64");
    const { status, body } = await board.person("ada", "PUT", path, { message: "Push", content, branch });
    if (status !== 201) throw new Error(JSON.stringify(body));
  }
  await settled(world);
}

/** A card with a branch and, after "In progress", a pull request with a commit in each repository. */
async function cardIn(board: TestBoard, stage: "In progress" | "Draft" | "In review") {
  const { number } = await makeCard(board);
  await moveTo(board, number, "In progress");
  const branch = await branchOf(board, number);
  if (stage === "In progress") return { number, branch };
  await pushAll(board, branch);
  await untilDrafted(board, number);
  if (stage === "In review") await moveTo(board, number, stage);
  await settled(world);
  // GitHub's times are whole seconds: two changes within one second need a call to order them.
  await sleep(1_010 - (Date.now() % 1_000));
  return { number, branch };
}

const untilDrafted = (board: TestBoard, number: number) =>
  board.api.cardWhen(number, ({ repositories }) => repositories.every(({ prState }) => prState === "draft"));

/** Deletes the stored tips of the trunks, as if no webhook had reported them. */
const deleteStoredTips = ({ db, repositories }: TestBoard) =>
  db("trunks").whereIn("repository_id", Object.values(repositories)).delete();

async function statuses(board: TestBoard, branch: string, state: "success" | "failure"): Promise<void> {
  for (const name of names(board)) {
    const path = `/repos/${board.owner}/${name}/statuses/${await headOf(board, name, branch)}`;
    await board.person("ada", "POST", path, { state, context: "ci" });
  }
}

async function failingRuns(board: TestBoard, branch: string): Promise<void> {
  const annotation = {
    path: "app.txt",
    start_line: 1,
    end_line: 1,
    annotation_level: "failure",
    message: "no",
  };
  const output = { title: "test", summary: "test", annotations: [annotation] };
  for (const name of names(board)) {
    const run = { name: "test", head_sha: await headOf(board, name, branch), status: "completed" };
    const path = `/repos/${board.owner}/${name}/check-runs`;
    await board.person("ada", "POST", path, { ...run, conclusion: "failure", output });
  }
}

/** Webhooks without a card: branches, tags, pull requests, comments and checks. */
async function sendWebhooksWithoutCard(board: TestBoard): Promise<void> {
  for (const name of names(board)) {
    const sha = await headOf(board, name, "main");
    const act = async (method: string, path: string, body: object): Promise<void> => {
      const response = await board.person("ada", method, `/repos/${board.owner}/${name}${path}`, body);
      if (response.status >= 300) throw new Error(JSON.stringify(response.body));
    };
    await act("POST", "/git/refs", { ref: "refs/heads/aside", sha });
    await act("POST", "/git/refs", { ref: "refs/tags/aside", sha });
    await act("PUT", "/contents/aside.txt", { message: "Aside", content: "YQ==", branch: "aside" });
    await act("POST", "/pulls", { title: "Aside", head: "aside", base: "main" });
    await act("POST", "/issues/2/comments", { body: "Aside" });
    await act("POST", `/statuses/${sha}`, { state: "failure", context: "aside" });
    await act("PATCH", "/pulls/2", { state: "closed" });
  }
  await deliver(world, "star", { action: "created" });
}

const tagging: readonly Action[] = ([false, true] as const).map((isFrozen) => ({
  action: `complete ${isFrozen ? "a frozen release" : "a release that was not frozen"}`,
  // Of several repositories none is tagged before all are read; then all are tagged by one call. The tags
  // are listed before the GitHub releases are published.
  atMost: (repositories: number) => (repositories === 1 ? 3 : 3 + repositories),
  prepare: async (board: TestBoard) => {
    const id = await makeRelease(board.api, "One");
    await pushAll(board, "main");
    if (isFrozen) await freeze(board.api, id);
    const versions = names(board).map((name) => ({
      repositoryId: board.repositories[name],
      tagName: "v1.0.0",
    }));
    return async () => {
      const { status, text } = await complete(board.api, id, versions);
      if (status !== 200) throw new Error(text);
    };
  },
}));

const actions: readonly Action[] = [
  {
    action: "create a branch from a trunk whose commit a push webhook reported",
    atMost: each(1),
    prepare: async (board) => {
      const { number } = await makeCard(board);
      await pushAll(board, "main");
      return () => moveTo(board, number, "In progress");
    },
  },
  {
    action: "create a branch from a trunk without a known commit",
    atMost: each(2),
    prepare: async (board) => {
      const { number } = await makeCard(board);
      return async () => {
        await deleteStoredTips(board);
        await moveTo(board, number, "In progress");
      };
    },
  },
  {
    action: "open the draft pull request after the first push",
    atMost: each(1),
    prepare: async (board) => {
      const { number, branch } = await cardIn(board, "In progress");
      return async () => {
        await pushAll(board, branch);
        await untilDrafted(board, number);
      };
    },
  },
  {
    action: "process further pushes",
    atMost: forAll(0),
    prepare: async (board) => {
      const { branch } = await cardIn(board, "Draft");
      return () => pushAll(board, branch, "more.txt");
    },
  },
  {
    action: "create the branch in a repository linked later",
    atMost: forAll(1),
    prepare: async (board) => {
      const repositoryIds = Object.values(board.repositories);
      const { number } = await board.api.card({ repositoryIds: repositoryIds.slice(1) });
      await pushAll(board, "main");
      await moveTo(board, number, "In progress");
      return () => board.api.patch(`/v1/cards/${number}`, { repositoryIds });
    },
  },
  {
    action: "find the branch of a repository linked again",
    atMost: each(1),
    prepare: async (board) => {
      const { number, branch } = await cardIn(board, "In progress");
      await board.api.patch(`/v1/cards/${number}`, { repositoryIds: [] });
      await pushAll(board, "main");
      return async () => {
        const repositoryIds = Object.values(board.repositories);
        await board.api.patch(`/v1/cards/${number}`, { repositoryIds });
        await board.api.cardWhen(number, ({ repositories }) =>
          repositories.every(({ branchName }) => branchName === branch),
        );
      };
    },
  },
  {
    action: "check before a merge and refuse it",
    atMost: forAll(1),
    prepare: async (board) => {
      const { number, branch } = await cardIn(board, "In review");
      await statuses(board, branch, "failure");
      return async () => {
        expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
      };
    },
  },
  {
    action: "check, mark ready, check again, merge and read who merged",
    // The first merge follows the check directly, the others read their target again.
    atMost: (repositories) => 1 + 4 * repositories,
    prepare: async (board) => {
      const { number } = await cardIn(board, "Draft");
      return () => moveTo(board, number, "Done");
    },
  },
  {
    action: "check and merge a card in review, and read who merged",
    atMost: (repositories) => 1 + 3 * repositories,
    prepare: async (board) => {
      const { number } = await cardIn(board, "In review");
      return () => moveTo(board, number, "Done");
    },
  },
  {
    action: "read the checks of a card with annotations",
    atMost: forAll(1),
    prepare: async (board) => {
      const { number, branch } = await cardIn(board, "In review");
      await statuses(board, branch, "success");
      await failingRuns(board, branch);
      return async () => {
        const { body } = await board.api.get<{ runs: { notes: unknown[] }[] }[]>(
          `/v1/cards/${number}/checks`,
        );
        expect(body.map(({ runs }) => runs.flatMap(({ notes }) => notes).length)).toEqual(
          names(board).map(() => 1),
        );
      };
    },
  },
  {
    action: "read the reviews of a card",
    atMost: forAll(1),
    prepare: async (board) => {
      const { number } = await cardIn(board, "In review");
      for (const name of names(board)) {
        const path = `/repos/${board.owner}/${name}/pulls/1/reviews`;
        await board.person("grace", "POST", path, { event: "APPROVE", body: "Good" });
      }
      return async () => {
        const { body } = await board.api.get<{ reviews: unknown[] }[]>(`/v1/cards/${number}/reviews`);
        expect(body.map(({ reviews }) => reviews.length)).toEqual(names(board).map(() => 1));
      };
    },
  },
  {
    action: "mirror a comment",
    atMost: each(1),
    prepare: async (board) => {
      const { number } = await cardIn(board, "In review");
      return async () => {
        const written = await board.api.post(`/v1/cards/${number}/comments`, { body: "Hello" });
        expect(written.body["mirroredTo"]).toBe(names(board).length);
      };
    },
  },
  {
    action: "freeze a release at commits that push webhooks reported",
    atMost: each(1),
    prepare: async (board) => {
      const id = await makeRelease(board.api, "One");
      await pushAll(board, "main");
      return async () => expect((await freeze(board.api, id)).status).toBe(200);
    },
  },
  {
    action: "freeze a release without known commits",
    atMost: each(2),
    prepare: async (board) => {
      const id = await makeRelease(board.api, "One");
      return async () => {
        await deleteStoredTips(board);
        expect((await freeze(board.api, id)).status).toBe(200);
      };
    },
  },
  ...tagging,
  {
    action: "process webhooks without a card",
    atMost: forAll(0),
    prepare: async (board) => {
      await cardIn(board, "In review");
      return () => sendWebhooksWithoutCard(board);
    },
  },
  {
    action: "read anything but checks, reviews, move plans, open pull requests and previews of releases",
    atMost: forAll(0),
    prepare: async (board) => {
      const { number } = await cardIn(board, "In review");
      const reading = ["checks", "reviews", "move-plan"].map((name) => `GET /v1/cards/{number}/${name}`);
      reading.push("GET /v1/releases/{id}/preview", "GET /v1/repositories/{repositoryId}/pull-requests");
      const reads = sampleCalls.filter(({ name, method }) => method === "GET" && !reading.includes(name));
      const calls: Act[] = [];
      for (const { name } of reads) {
        const sample = await sampleOf(name, board);
        const ofCard = name.includes("{number}") ? { ...sample, path: { number } } : sample;
        calls.push(async () => {
          const { status } = await callSample(name, ofCard, board.api);
          expect([name, status]).toEqual([name, 200]);
        });
      }
      return async () => {
        for (const call of calls) await call();
      };
    },
  },
];

describe.each([
  [["web"], actions],
  [["web", "api"], actions],
  [["web", "api", "docs"], tagging],
] as const)("calls to GitHub with the repositories %j to", (repositories, counted) => {
  it.each(counted)("$action", async ({ prepare, atMost }) => {
    const board = await world.board({ repositories });
    const act = await prepare(board);
    const calls = await callsOf(world, act);
    expect([calls, calls.length <= atMost(repositories.length)]).toEqual([calls, true]);
  });
});
