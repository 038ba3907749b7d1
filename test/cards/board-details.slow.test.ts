import { describe, expect, it } from "@jest/globals";
import { refreshSnapshots } from "../../src/actions/reconcile/refresh-snapshots.ts";
import { armedCard } from "../armed/support/armed-cards.ts";
import { eventually, type Api } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { openCard } from "../support/stories/open-card.ts";
import { reportStatus, setPullState } from "../support/stories/repairing.ts";
import { pushTo, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

interface Branch {
  readonly checksState: string | null;
  readonly isBehind: boolean | null;
}
interface Task {
  readonly number: number;
  readonly repositories: readonly Branch[];
  readonly armed: {
    readonly statusId: string;
    readonly waitingFor: readonly { readonly reason: string }[];
  } | null;
}

async function shown(api: Api, number: number): Promise<Task | undefined> {
  const { body } = await api.get<{ columns: { tasks: Task[] }[] }>("/v1/board?include=details");
  return body.columns.flatMap(({ tasks }) => tasks).find((task) => task.number === number);
}

/** The facts of the card's branch on the board, which are those that the card shows. */
async function branchOf(board: TestBoard, number: number): Promise<Branch | undefined> {
  const branch = (await shown(board.api, number))?.repositories[0];
  const card = (await board.api.readCard(number)).repositories[0];
  expect(card).toMatchObject(branch ?? {});
  return branch;
}

const refresh = async (): Promise<void> => {
  await allProcessed(world);
  await refreshSnapshots(world.service.deps, { pauseMs: 0 });
};

/** The cards of the feed's events of a kind after a position; null for an event without a card. */
async function announced(api: Api, kind: string, after: string): Promise<(number | null)[]> {
  const { body } = await api.get<{ events: { card: { number: number } | null }[] }>(
    `/v1/events?after=${after}&kinds=${kind}`,
  );
  return body.events.map(({ card }) => card?.number ?? null);
}
const feedHead = async (api: Api): Promise<string> =>
  (await api.get<{ next: string }>("/v1/events")).body.next;

describe("a board with details shows, and the feed announces,", () => {
  it("the facts of Git, as the card does", async () => {
    const board = await world.board();
    const { number, branchName } = await openCard(world, board);
    expect(await branchOf(board, number)).toEqual({
      fullName: `${board.owner}/web`,
      branchName,
      prNumber: 1,
      prState: "open",
      checksState: null,
      reviewState: null,
      isBehind: false,
      hasConflicts: null,
      isInMergeQueue: null,
    });
    const sha = await pushTo(board, branchName, "more.txt");
    await reportStatus(board, sha, "failure");
    await allProcessed(world);
    expect(await branchOf(board, number)).toMatchObject({ checksState: "failing", isBehind: null });
    const before = await feedHead(board.api);
    await refresh();
    expect(await branchOf(board, number)).toMatchObject({ isBehind: false });
    await eventually(
      () => announced(board.api, "git_facts_changed", before),
      (cards) => cards.includes(number),
    );
    await setPullState(board, 1, "closed");
    await allProcessed(world);
    expect(await branchOf(board, number)).toMatchObject({ prState: "closed", isBehind: null });
  });

  it("a push to the target of several cards, in one event without a card", async () => {
    const board = await world.board();
    const [one, other] = [await openCard(world, board), await openCard(world, board)];
    await refresh();
    for (const { number } of [one, other]) await branchOf(board, number);
    const before = await feedHead(board.api);
    await writeFile(board, "web", "main", "hello.txt", "theirs\n");
    await allProcessed(world);
    for (const { number } of [one, other]) {
      expect(await branchOf(board, number)).toMatchObject({ isBehind: null, hasConflicts: null });
    }
    const cards = await eventually(
      () => announced(board.api, "git_facts_changed", before),
      (events) => events.length > 0,
    );
    // Trunkline may have asked GitHub about both cards already.
    expect(new Set(cards)).toEqual(new Set([null]));
  });

  it("an armed move with what it waits for", async () => {
    const board = await world.board();
    const { number } = await armedCard(board);
    expect(await shown(board.api, number)).toMatchObject({
      armed: { statusId: board.stages.Done, waitingFor: [{ reason: "checks_pending" }] },
    });
    await board.api.delete(`/v1/cards/${number}/armed`);
    expect(await shown(board.api, number)).toMatchObject({ armed: null });
  });
});
