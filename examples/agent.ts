/**
 * Creates a card, moves it to "In progress" and tries to merge it. Run it while the sandbox runs:
 *
 *     KEY=… npx tsx agent.ts
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const { API = "http://127.0.0.1:3000", KEY = "" } = process.env;

interface Problem {
  message: string;
  blocked?: { reason: string };
}

function parseProblem(text: string): Problem {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text };
  }
}

class ApiError extends Error {
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(`${status} ${problem.message}`);
    this.problem = problem;
  }
}

/** Sends a request, and repeats it with the same idempotency key while that can help. */
async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = {
    authorization: `Bearer ${KEY}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  };
  const send = async () => {
    const json = body === undefined ? null : JSON.stringify(body);
    const response = await fetch(API + path, { method, headers, body: json });
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, retryAfter, text: await response.text() };
  };
  for (let attempt = 1; ; attempt++) {
    const response = await send().catch(() => null);
    const mayRepeat = response === null || response.status >= 500 || response.retryAfter !== null;
    if (mayRepeat && attempt < 8) {
      await sleep(1000 * Number(response?.retryAfter ?? attempt));
      continue;
    }
    if (response === null) throw new Error(`${API} does not respond`);
    if (response.status >= 400) throw new ApiError(response.status, parseProblem(response.text));
    return (response.text === "" ? null : JSON.parse(response.text)) as T;
  }
}

interface Board {
  columns: { statusId: string; name: string }[];
}

interface Card {
  number: number;
  repositories: { fullName: string; branchName: string | null }[];
}

async function main(): Promise<void> {
  const board = await call<Board>("GET", "/v1/board");
  const { number } = await call<Card>("POST", "/v1/cards", { title: "Fix the footer" });
  const move = (stage: string) => {
    const statusId = board.columns.find(({ name }) => name === stage)?.statusId;
    return call("POST", `/v1/cards/${number}/move`, { statusId, index: 0 });
  };

  await move("In progress");
  const card = await call<Card>("GET", `/v1/cards/${number}`);
  for (const { fullName, branchName } of card.repositories) console.log(fullName, branchName);

  try {
    await move("Done");
  } catch (error) {
    // Nothing was pushed, so there is nothing to merge.
    if (!(error instanceof ApiError && error.problem.blocked)) throw error;
    console.log(error.problem.blocked.reason, "-", error.message);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
