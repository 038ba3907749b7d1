import { beforeAll, describe, expect, it } from "@jest/globals";
import { runCommandLine } from "../../src/cli/run.ts";
import { eventually } from "../support/api.ts";
import { commandLineOf, type CommandLine } from "../support/processes/command-line.ts";
import { readFeed, type ApiEvent } from "../support/stories/event-stream.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let line: CommandLine;
let board: TestBoard;
/** The feed as the API has it. */
let feed: ApiEvent[];
beforeAll(async () => {
  line = commandLineOf(world);
  board = await world.board();
  await board.api.card({ title: "One" });
  await board.api.card({ title: "Two" });
  feed = await eventually(
    () => readFeed(board.api),
    (events) => events.filter(({ kind }) => kind === "card_created").length === 2,
  );
});

const print = async (...words: readonly string[]): Promise<ApiEvent[]> => {
  const { code, stdout, stderr } = await line.run(["events", "--workspace", board.workspaceId, ...words]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text) as ApiEvent);
};

describe("trunkline events", () => {
  it("prints the events of a board as the API has them, one per line", async () => {
    expect((await print()).slice(0, feed.length)).toEqual(feed);
  });

  it("prints those after a number, of some kinds", async () => {
    const created = feed.filter(({ kind }) => kind === "card_created");
    const after = String(created[0]?.seq);
    const printed = await print("--after", after, "--kinds", "card_created,blocked");
    expect(printed.slice(0, created.length - 1)).toEqual(created.slice(1));
  });

  it("with --follow prints new events until it is stopped", async () => {
    const printed: string[] = [];
    const stop = new AbortController();
    const stopped = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
    let isReady = (): void => undefined;
    const ready = new Promise<void>((resolve) => (isReady = resolve));
    const running = runCommandLine(
      ["events", "--follow", "--workspace", board.workspaceId, "--after", String(feed.length)],
      {
        env: { DATABASE_URL: world.databaseUrl },
        cwd: "/nonexistent",
        pid: process.pid,
        print: (text) => void printed.push(text),
        printError: (text) => void printed.push(text),
        readInput: () => Promise.resolve(""),
        untilSignal: () => {
          isReady();
          return stopped;
        },
      },
    );
    await ready;
    await board.api.card({ title: "Three" });
    await eventually(
      () => Promise.resolve(printed),
      ({ length }) => length > 0,
    );
    stop.abort();
    expect(await running).toBe(0);
    expect(printed.map((text) => (JSON.parse(text) as ApiEvent).kind)).toEqual(["card_created"]);
  });

  it("fails for a number that the feed does not keep, and for an unknown board", async () => {
    const late = await line.run(["events", "--workspace", board.workspaceId, "--after", "999"]);
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining("has no events after 999") });
    const id = "019a0000-0000-7000-8000-000000000000";
    const unknown = await line.run(["events", "--workspace", id]);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no workspace") });
  });

  it.each([
    ["--after", "x"],
    ["--kinds", "unknown"],
    ["--card", "1"],
  ])("refuses %s %s", async (...words) => {
    const refused = await line.run(["events", "--workspace", board.workspaceId, ...words]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
  });
});
