import { beforeAll, describe, expect, it } from "@jest/globals";
import { DEFAULT_FLOW, DEFAULT_VERIFICATION } from "../../src/flow/flow.ts";
import {
  flowPath,
  newStage,
  putFlow,
  readColumns,
  readFlow,
  stageNames,
  without,
  type Flow,
  type Stage,
} from "../support/flows.ts";
import { eventually } from "../support/api.ts";
import { twoTargets } from "../support/stories/two-targets.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { expectUnknownHere, UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

/** A new stage that merges into a branch. */
const mergeStage = (name: string, into: string): Stage => ({
  ...newStage(name),
  rule: { type: "merge", into },
});

describe("the flow of a project", () => {
  it("is the default flow at first, and a viewer can read it", async () => {
    const board = await world.board();
    const reader = await board.as({ role: "viewer", scopes: ["read"] });
    const found = await reader.get<Flow>(flowPath(board));
    expect(found.status).toBe(200);
    expect(found.body).toEqual({
      ...DEFAULT_FLOW,
      stages: DEFAULT_FLOW.stages.map((stage) => ({ ...stage, id: expect.any(String) })),
    });
    expect(found.body.stages[0]?.id).toBe(board.stages.Backlog);
  });

  it("does not change when it is replaced by itself", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const response = await putFlow(board, flow);
    expect(response).toMatchObject({ status: 200, body: flow });
    expect(await readFlow(board)).toEqual(flow);
  });

  it("accepts every setting", async () => {
    const board = await world.board();
    const settings = {
      releases: false,
      branchPattern: "work/{number}",
      mergeMethod: "rebase",
      checks: "ignored",
      staleAfterDays: 3,
      agentSilenceHours: 48,
      verification: { independentApproval: false, bypassRules: true, checksStartSeconds: 0 },
    };
    expect((await putFlow(board, { ...(await readFlow(board)), ...settings })).status).toBe(200);
    expect(await readFlow(board)).toMatchObject(settings);
  });

  it("keeps what merges have to prove if it does not name it, and resets what it leaves out in it", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const verification = { independentApproval: false, bypassRules: true, checksStartSeconds: 5 };
    await putFlow(board, { ...flow, verification });
    const { verification: _, ...older } = flow;
    expect((await putFlow(board, older)).body).toMatchObject({ verification });
    const copy = await board.api.post<{ id: string }>("/v1/projects", { name: "Copy" });
    const copied = await board.api.get(`/v1/projects/${copy.body.id}/flow`);
    expect(copied.body).toMatchObject({ verification });
    const changed = await putFlow(board, { ...older, verification: { checksStartSeconds: 5 } });
    expect(changed.body).toMatchObject({ verification: { ...DEFAULT_VERIFICATION, checksStartSeconds: 5 } });
  });

  it("names the branches of cards that start later", async () => {
    const board = await world.board();
    await putFlow(board, { ...(await readFlow(board)), branchPattern: "work/{number}/{slug}" });
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["In progress"]);
    expect((await board.api.readCard(number)).repositories[0]?.branchName).toBe(`work/${number}/say-hello`);
  });
});

describe("the stages of a flow", () => {
  it("are renamed, reordered, added and removed in one call, while cards keep their stages", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const [backlog, todo, progress, review, done] = flow.stages as [Stage, Stage, Stage, Stage, Stage];
    const { number } = await board.api.card({ repositoryIds: [] });
    await board.api.move(number, board.stages["To do"]);
    const draft = await board.api.card();
    const stages = [
      { ...backlog, name: "Ideas" },
      newStage("Design"),
      { ...todo, name: "Ready", minRole: "maintainer" },
      { ...progress, rule: { type: "branch" } },
      newStage("Test", "pull_request"),
      { ...done, rule: { type: "merge", into: "release/next" } },
    ];
    const response = await putFlow(board, { ...flow, stages });
    expect(response.status).toBe(200);
    expect(stageNames(response.body)).toEqual(["Ideas", "Design", "Ready", "In progress", "Test", "Done"]);
    expect(response.body.stages.map(({ rule }) => rule)).toEqual([
      { type: "none", into: null },
      { type: "none", into: null },
      { type: "none", into: null },
      { type: "branch", into: null },
      { type: "pull_request", into: null },
      { type: "merge", into: "release/next" },
    ]);
    expect(await readFlow(board)).toEqual(response.body);
    expect(response.body.stages.map(({ id }) => id)).not.toContain(review.id);
    expect(await readColumns(board)).toMatchObject([
      { name: "Design", tasks: [] },
      { name: "Ready", statusId: todo.id, minRole: "maintainer", tasks: [{ number }] },
      { name: "In progress", tasks: [] },
      { name: "Test", rule: { type: "pull_request", into: null }, tasks: [] },
      { name: "Done", kind: "done", rule: { type: "merge", into: "release/next" }, tasks: [] },
    ]);
    expect((await board.api.readCard(draft.number)).statusId).toBe(backlog.id);
  });

  it("exchange their positions and names", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const renamed = flow.stages.map((stage) => {
      if (stage.name === "To do")
        return { ...stage, name: "In progress", rule: { type: "draft_pull_request" } };
      return stage.name === "In progress" ? { ...stage, name: "To do", rule: { type: "none" } } : stage;
    });
    const [backlog, second, third, ...rest] = renamed as [Stage, Stage, Stage, ...Stage[]];
    const response = await putFlow(board, { ...flow, stages: [backlog, third, second, ...rest] });
    expect(response.status).toBe(200);
    expect(response.body.stages.slice(1, 3).map(({ id, name }) => [id, name])).toEqual([
      [board.stages["In progress"], "To do"],
      [board.stages["To do"], "In progress"],
    ]);
  });

  it("are not removed while they have cards; the response names and counts them", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const cards = [];
    for (let at = 0; at < 3; at += 1) cards.push(await board.api.card({ repositoryIds: [] }));
    const [first, second, third] = cards.map(({ number }) => number) as [number, number, number];
    await board.api.move(first, board.stages["To do"]);
    await board.api.move(second, board.stages["To do"]);
    await board.api.move(third, board.stages["In review"]);
    const refused = await putFlow(board, without(without(flow, "To do"), "In review"));
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict", statusCode: 409 } });
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(refused.body.message).toContain("To do still holds 2 cards");
    expect(refused.body.message).toContain("In review still holds 1 card.");
    expect(await readFlow(board)).toEqual(flow);
    await board.api.move(first, board.stages.Backlog);
    await board.api.delete(`/v1/cards/${second}`);
    await board.api.move(third, board.stages.Done);
    expect((await putFlow(board, without(without(flow, "To do"), "In review"))).status).toBe(200);
    expect(stageNames(await readFlow(board))).toEqual(["Backlog", "In progress", "Done"]);
  });

  it("can have another backlog and another end after the old ones are empty", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const { number } = await board.api.card();
    const swapped = {
      ...flow,
      stages: flow.stages.map(({ id, ...stage }) =>
        stage.kind === "stage" ? { id, ...stage } : { ...stage, name: `New ${stage.kind}` },
      ),
    };
    expect((await putFlow(board, swapped)).body.message).toContain("Backlog still holds 1 card.");
    await board.api.delete(`/v1/cards/${number}`);
    const response = await putFlow(board, swapped);
    expect(response.status).toBe(200);
    expect((await board.api.card()).statusId).toBe(response.body.stages[0]?.id);
    expect(response.body.stages[0]?.id).not.toBe(board.stages.Backlog);
  });

  it("no longer block a card after they are removed", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const { number } = await board.api.card();
    const refused = await board.api.move(number, board.stages["In review"]);
    expect(refused.body.blocked?.statusId).toBe(board.stages["In review"]);
    expect((await putFlow(board, without(flow, "In review"))).status).toBe(200);
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
  });
});

describe("an invalid flow", () => {
  let board: TestBoard;
  beforeAll(async () => {
    board = await world.board();
  });

  const wrongs: [string, (flow: Flow) => unknown, string, RegExp][] = [
    [
      "without its end",
      (flow) => without(flow, "Done"),
      "stages.3.kind",
      /Stage 4 \(In review\).*must be done/,
    ],
    [
      "without its backlog",
      (flow) => without(flow, "Backlog"),
      "stages.0.kind",
      /Stage 1 \(To do\).*backlog/,
    ],
    [
      "with a rule that goes back",
      (flow) => ({ ...flow, stages: flow.stages.toSpliced(4, 0, newStage("Check", "branch")) }),
      "stages.4.rule",
      /Stage 5 \(Check\) requires branch, less than pull_request/,
    ],
    [
      "with a name twice",
      (flow) => ({ ...flow, stages: flow.stages.toSpliced(1, 0, newStage("TO DO")) }),
      "stages.2.name",
      /Stage 3 \(To do\) has the name of stage 2/,
    ],
    [
      "with a target that is not a valid branch name",
      (flow) => ({
        ...flow,
        stages: flow.stages.with(4, { ...(flow.stages[4] as Stage), rule: { type: "merge", into: "a b" } }),
      }),
      "stages.4.rule.into",
      /Stage 5 \(Done\) merges into "a b"/,
    ],
    [
      "with the default branch as a target twice, once by its name",
      (flow) => ({ ...flow, stages: flow.stages.toSpliced(4, 0, mergeStage("Staging", "main")) }),
      "stages.5.rule.into",
      /Stage 6 \(Done\) merges into the same branch as stage 5 \(Staging\): main is the default branch of org-\w+\/web/,
    ],
    [
      "with the default branch as a target twice, by its name the second time",
      (flow) => ({
        ...flow,
        stages: flow.stages
          .toSpliced(4, 0, { ...mergeStage("Staging", "main"), rule: { type: "merge", into: null } })
          .with(5, { ...(flow.stages[4] as Stage), rule: { type: "merge", into: "main" } }),
      }),
      "stages.5.rule.into",
      /Name another branch, or let only one of them merge/,
    ],
    [
      "with a stage of another flow",
      (flow) => ({ ...flow, stages: flow.stages.toSpliced(1, 0, { ...newStage("Theirs"), id: UNKNOWN_ID }) }),
      "stages.1.id",
      /Stage 2 \(Theirs\) has an id that this flow does not have/,
    ],
    [
      "with a branch pattern without a branch name",
      (flow) => ({ ...flow, branchPattern: "{slug}/{number}" }),
      "branchPattern",
      /can give "\/1"/,
    ],
    [
      "with a pattern of 201 characters",
      (flow) => ({ ...flow, branchPattern: `${"x".repeat(193)}{number}` }),
      "branchPattern",
      /at most 200/,
    ],
    [
      "with a name of 61 characters",
      (flow) => ({ ...flow, stages: flow.stages.toSpliced(1, 0, newStage("n".repeat(61))) }),
      "stages.1.name",
      /1 to 60/,
    ],
    [
      "with a stage that has no rule",
      (flow) => ({
        ...flow,
        stages: flow.stages.toSpliced(1, 0, { name: "X", kind: "stage", minRole: "member" } as Stage),
      }),
      "stages.1.rule",
      /./,
    ],
    [
      "with an unknown rule",
      (flow) => ({ ...flow, stages: flow.stages.toSpliced(1, 0, newStage("X", "deploy")) }),
      "stages.1.rule.type",
      /draft_pull_request/,
    ],
    [
      "with an unknown role",
      (flow) => ({ ...flow, stages: flow.stages.toSpliced(1, 0, { ...newStage("X"), minRole: "owner" }) }),
      "stages.1.minRole",
      /./,
    ],
    ["with an unknown field", (flow) => ({ ...flow, colour: "red" }), "colour", /unknown field/],
    [
      "with an unknown field of a stage",
      (flow) => ({ ...flow, stages: flow.stages.toSpliced(1, 0, { ...newStage("X"), limit: 3 } as Stage) }),
      "stages.1.limit",
      /unknown field/,
    ],
    ["without a setting", (flow) => ({ ...flow, checks: undefined }), "checks", /one of required, ignored/],
    [
      "with zero days until cards are stale",
      (flow) => ({ ...flow, staleAfterDays: 0 }),
      "staleAfterDays",
      /1 to 365/,
    ],
    [
      "with 601 seconds until checks start",
      (flow) => ({ ...flow, verification: { checksStartSeconds: 601 } }),
      "verification.checksStartSeconds",
      /0 to 600/,
    ],
    ["stale after 366 days", (flow) => ({ ...flow, staleAfterDays: 366 }), "staleAfterDays", /1 to 365/],
    [
      "with agents that may be silent for 721 hours",
      (flow) => ({ ...flow, agentSilenceHours: 721 }),
      "agentSilenceHours",
      /1 to 720/,
    ],
  ];
  it.each(wrongs)(
    "%s is refused with the field and the reason, and nothing changes",
    async (_, wrong, path, why) => {
      const flow = await readFlow(board);
      const refused = await putFlow(board, wrong(flow));
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: `body.${path}` }] } });
      expect(refused.body.message).toMatch(why);
      expect(await readFlow(board)).toEqual(flow);
    },
  );

  it("is accepted if a new default branch made two targets equal; the second finds the merged work", async () => {
    const { board: own, staging } = await twoTargets(world);
    const { number } = await cardWithCommit(own);
    await own.person("ada", "PATCH", `/repos/${own.owner}/web`, { default_branch: "develop" });
    await eventually(
      () => own.api.get<{ defaultBranch: string }[]>("/v1/repositories"),
      ({ body }) => body[0]?.defaultBranch === "develop",
    );
    const flow = await readFlow(own);
    expect((await putFlow(own, flow)).status).toBe(200);
    const merged = { fullName: `${own.owner}/web`, targetBranch: "develop" };
    expect((await own.api.move(number, staging)).body).toMatchObject({ promoted: [merged] });
    const done = await own.api.move(number, own.stages.Done);
    expect(done).toMatchObject({ status: 200, body: { promoted: [], alreadyMerged: [merged] } });
  });

  it("has at most 30 stages", async () => {
    const own = await world.board();
    const flow = await readFlow(own);
    const padded = (count: number): Flow => ({
      ...flow,
      stages: flow.stages.toSpliced(
        1,
        0,
        ...Array.from({ length: count }, (_, at) => newStage(`Stage ${at}`)),
      ),
    });
    expect((await putFlow(own, padded(26))).body.message).toContain("at most 30 stages");
    expect((await putFlow(own, padded(25))).status).toBe(200);
    expect((await readFlow(own)).stages).toHaveLength(30);
  });

  it("accepts the minimum and maximum of its settings", async () => {
    const own = await world.board();
    const flow = await readFlow(own);
    const ends = { staleAfterDays: 365, agentSilenceHours: 720, branchPattern: `${"x".repeat(192)}{number}` };
    const stages = flow.stages.toSpliced(1, 0, newStage("n".repeat(60)));
    expect((await putFlow(own, { ...flow, ...ends, stages })).status).toBe(200);
    expect(
      (await putFlow(own, { ...(await readFlow(own)), staleAfterDays: 1, agentSilenceHours: 1 })).status,
    ).toBe(200);
  });
});

describe("the role that changes a flow", () => {
  it("is maintainer", async () => {
    const board = await world.board();
    const member = await board.as({ role: "member" });
    const refused = await member.put(flowPath(board), await readFlow(board));
    expect(refused.status).toBe(403);
    expect(refused.body["message"]).toContain("maintainer");
  });

  it("does not reach projects of another board, which are unknown", async () => {
    const [board, other] = [await world.board(), await world.board()];
    await expectUnknownHere(
      [board, other],
      [other.projectId, (id) => `/v1/projects/${id}/flow`],
      [["GET"], ["PUT", { nonsense: true }]],
    );
  });
});

describe("If-Match", () => {
  const STALE = /has changed since you read it/;
  const tagOf = ({ headers }: { readonly headers: Headers }): string => headers.get("ETag") ?? "";
  const replace = (board: TestBoard, flow: Flow, match: string, options: { readonly key?: string } = {}) =>
    board.api.put<Flow & { message: string }>(flowPath(board), flow, {
      ...options,
      headers: { "If-Match": match },
    });

  it("refuses a change of a flow that somebody else has changed, and accepts one of the current flow", async () => {
    const board = await world.board();
    const read = await board.api.get<Flow>(flowPath(board));
    const theirs = await putFlow(board, { ...read.body, staleAfterDays: 3 });
    const mine = { ...read.body, agentSilenceHours: 5 };
    const refused = await replace(board, mine, tagOf(read));
    expect(refused).toMatchObject({ status: 412, body: { message: expect.stringMatching(STALE) } });
    const now = await board.api.get<Flow>(flowPath(board));
    expect(now.body).toMatchObject({ staleAfterDays: 3, agentSilenceHours: 24 });
    expect(tagOf(now)).toBe(tagOf(theirs));
    const saved = await replace(board, { ...now.body, agentSilenceHours: 5 }, tagOf(now));
    expect(saved).toMatchObject({ status: 200, body: { staleAfterDays: 3, agentSilenceHours: 5 } });
  });

  it("lets only one of two changes of the same flow happen", async () => {
    const board = await world.board();
    const read = await board.api.get<Flow>(flowPath(board));
    const responses = await Promise.all(
      [3, 4, 5].map((staleAfterDays) => replace(board, { ...read.body, staleAfterDays }, tagOf(read))),
    );
    expect(responses.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 412, 412,
    ]);
  });

  it("does not hinder the retry of a change that has happened", async () => {
    const board = await world.board();
    const read = await board.api.get<Flow>(flowPath(board));
    const key = `retry-${board.projectId}`;
    const stages = read.body.stages.toSpliced(1, 0, newStage("QA"));
    const changed = { ...read.body, stages };
    const first = await replace(board, changed, tagOf(read), { key });
    const again = await replace(board, changed, tagOf(read), { key });
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    expect(again.headers.get("Idempotent-Replay")).toBe("true");
    expect(tagOf(again)).toBe(tagOf(await board.api.get(flowPath(board))));
  });

  it("frees the key of a refused change", async () => {
    const board = await world.board();
    const read = await board.api.get<Flow>(flowPath(board));
    const key = `freed-${board.projectId}`;
    expect((await replace(board, read.body, '"other"', { key })).status).toBe(412);
    expect((await replace(board, read.body, tagOf(read), { key })).status).toBe(200);
  });

  it.each([
    ["any version", () => "*", 200],
    ["one of several", (tag: string) => `"other", ${tag}`, 200],
    ["a tag that a proxy has weakened", (tag: string) => `W/${tag}`, 200],
    ["a text that is no tag", (tag: string) => tag.slice(1, -1), 412],
  ])("may name %s", async (_, headerFor, status) => {
    const board = await world.board();
    const read = await board.api.get<Flow>(flowPath(board));
    expect((await replace(board, read.body, headerFor(tagOf(read)))).status).toBe(status);
  });

  it("does not change what If-None-Match does", async () => {
    const board = await world.board();
    const read = await board.api.get<Flow>(flowPath(board));
    const headers = { "If-None-Match": tagOf(read) };
    expect((await board.api.get(flowPath(board), { headers })).status).toBe(304);
  });
});
