import { setTimeout as sleep } from "node:timers/promises";
import { startReceiver } from "../../test/support/stories/outgoing-webhooks.ts";
import { followByPolling, followByStream, seqOf } from "../../test/support/stories/feed-followers.ts";
import type { TestBoard } from "../../test/support/world.ts";
import { newKnowledge } from "../actors/board-knowledge.ts";
import type { Commenting } from "../actors/commenting.ts";
import { newPerson, runConsolePerson, signInToConsole } from "../actors/console-person.ts";
import { runMcpAgent } from "../actors/mcp-agent.ts";
import type { SoakWorld } from "./world.ts";

/** Counts of the load so far. */
export interface Progress {
  /** Finished cards: in the last stage, their branches merged. */
  finishedCards: number;
  calls: number;
  /** Responses of 5xx and missing responses. Callers repeat these calls. */
  failed: number;
  /** Injected faults. */
  faults: number;
}

/** A person signs out and in again after this time. */
const SESSION_MS = 30_000;
const COMMENT_PAUSE_MS = 2_000;
/** How long requests are repeated after the end of the load. */
const LAST_RETRY_MS = 30_000;

/** The load of a board besides its agents. */
export interface Visitors {
  /** Resolves, after the end of the load, with what went wrong. */
  end(): Promise<string[]>;
}

/** A tool, a person in the console, two readers of the feed and a receiver of outgoing webhooks. */
export async function startVisitors(
  world: SoakWorld,
  board: TestBoard,
  progress: Progress,
  isOver: () => boolean,
): Promise<Visitors> {
  const { baseUrl } = world.service;
  const login = await newPerson(world, board);
  const receiver = await startReceiver();
  const { status, text } = await board.api.post("/v1/webhooks", { url: receiver.url });
  if (status !== 201) throw new Error(`no webhook: ${text}`);
  const place = { baseUrls: [baseUrl], apiKey: (await board.as({ role: "viewer" })).apiKey };
  const followers = [followByPolling(place), followByStream(place)];
  // Comments on cards with a pull request are copied to GitHub, which allows few.
  const card = await board.api.card({ title: "A card without a branch" });
  const withoutResponse: string[] = [];
  let endedAt: number | null = null;
  const retryUntil = (): number => (isOver() ? (endedAt ??= Date.now()) + LAST_RETRY_MS : Infinity);
  const commenting: Commenting = {
    own: { ...newKnowledge(board), cards: [card.number] },
    comments: [],
    failed: [],
    withoutResponse,
    pauseMs: COMMENT_PAUSE_MS,
    isOver,
    retryUntil,
  };
  const running = Promise.all([
    runMcpAgent(await board.as({}), commenting),
    visit(baseUrl, login, commenting),
  ]);
  return {
    end: async () => {
      await running;
      await Promise.all(followers.map((follower) => follower.stop()));
      await receiver.close();
      const { comments, failed } = commenting;
      progress.calls += comments.length * 2 + failed.length;
      progress.failed += failed.length;
      const counts = [
        comments.length,
        receiver.received.length,
        ...followers.map(({ texts }) => texts.length),
      ];
      return [
        ...withoutResponse,
        ...(counts.includes(0)
          ? [`comments, webhooks and events of ${board.owner}: ${counts.join(", ")}`]
          : []),
        ...followers.flatMap(({ name, texts, lost }) => gaps(board, name, texts.map(seqOf), lost)),
      ];
    },
  };
}

/** Comments in the console, with a new session every half minute. */
async function visit(baseUrl: string, login: string, commenting: Commenting): Promise<void> {
  while (!commenting.isOver()) {
    const browser = await signInToConsole(baseUrl, login).catch((error: unknown) => String(error));
    if (typeof browser === "string") {
      commenting.failed.push(`sign-in: ${browser}`);
      await sleep(1_000);
      continue;
    }
    const until = Date.now() + SESSION_MS;
    const isOver = (): boolean => commenting.isOver() || Date.now() > until;
    await runConsolePerson(browser, { ...commenting, isOver });
    await browser.write("POST", "/console/sign-out").catch(() => undefined);
  }
}

function gaps(
  { owner }: TestBoard,
  name: string,
  numbers: readonly number[],
  lost: readonly string[],
): string[] {
  const at = numbers.findIndex((number, index) => number !== (numbers[0] ?? 0) + index);
  return [
    ...(at < 0 ? [] : [`${name} of ${owner} got event ${numbers[at]} after ${numbers[at - 1]}`]),
    ...(lost.length === 0 ? [] : [`${name} of ${owner} got ${lost[0]}`]),
  ];
}
