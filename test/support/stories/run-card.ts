import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiResponse, ApiCard } from "../api.ts";
import type { TestBoard } from "../world.ts";

const LONG = 300_000;

/** Repeats a call with its key until it succeeds, as callers should. */
async function untilSuccess<Body>(call: (key: string) => Promise<ApiResponse<Body>>): Promise<Body> {
  const key = randomUUID();
  for (const until = Date.now() + LONG / 2; Date.now() < until; await sleep(200)) {
    const response = await call(key).catch(() => null);
    if (response && response.status < 300) return response.body;
    if (response && response.status < 500 && !response.headers.has("retry-after"))
      throw new Error(response.text);
  }
  throw new Error("the call never succeeded");
}

const cardOf = ({ api }: TestBoard, number: number): Promise<ApiCard> =>
  untilSuccess(() => api.get<ApiCard>(`/v1/cards/${number}`));

/** Creates a card, pushes as ada, moves it to review and merges it. Returns its number. */
export async function runCardToDone(board: TestBoard, index: number): Promise<number> {
  const { api, stages, owner } = board;
  const { number } = await untilSuccess((key) =>
    api.post<ApiCard>("/v1/cards", { title: `Life ${index}` }, { key }),
  );
  const move = (statusId: string) => untilSuccess((key) => api.move(number, statusId, 0, { key }));
  await move(stages["In progress"]);
  const branch = (await cardOf(board, number)).repositories[0]?.branchName ?? "";
  await board.person("ada", "PUT", `/repos/${owner}/web/contents/${number}.txt`, {
    message: `Write ${number}`,
    content: Buffer.from(`${number}\n`).toString("base64"),
    branch,
  });
  await move(stages["In review"]);
  await move(stages["Done"]);
  return number;
}
