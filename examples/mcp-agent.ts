/** Takes the first card of "To do" to "Done". Needs API, KEY and REPOSITORY, a URL that git can clone. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const { API = "http://127.0.0.1:3000", KEY = "", REPOSITORY = "" } = process.env;
const client = new Client({ name: "example", version: "1" }, { versionNegotiation: { mode: "auto" } });
const requestInit = { headers: { authorization: `Bearer ${KEY}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(`${API}/v1/mcp`), { requestInit }));

interface Data {
  columns: { name: string; statusId: string; tasks: { number: number }[] }[];
  card: { repositories: { branchName: string | null; prState: string | null }[] };
  wouldMove: boolean;
  blocked?: { reason: string };
}

async function call(name: string, input: Record<string, unknown> = {}): Promise<Data> {
  const result = await client.callTool({ name, arguments: input });
  const [said] = result.content;
  console.log(`${name}: ${said?.type === "text" ? said.text : ""}`);
  return result.structuredContent as Data;
}

async function until(isReached: () => Promise<boolean>): Promise<void> {
  while (!(await isReached())) await sleep(1000);
}

const { columns } = await call("get_board");
const stage = (name: string) => columns.find((column) => column.name === name);
const number = stage("To do")?.tasks[0]?.number;
const move = (name: string) => {
  const to = { statusId: stage(name)?.statusId, index: 0 };
  return call("move_card", { number, ...to, requestId: randomUUID() });
};
const repository = async () => (await call("get_card", { number })).card.repositories[0];

await move("In progress");
const branch = (await repository())?.branchName ?? "";
const folder = mkdtempSync(join(tmpdir(), "work-"));
const git = (...words: string[]) => execFileSync("git", ["-C", folder, ...words], { stdio: "ignore" });
git("clone", "--branch", branch, REPOSITORY, ".");
appendFileSync(join(folder, "app.txt"), "done by an agent\n");
git("commit", "--all", "--message", "Do the work");
git("push");
await until(async () => (await repository())?.prState === "draft");

if ((await move("Done")).blocked?.reason === "conflicts") {
  git("merge", "origin/main", "--strategy-option", "ours");
  git("push");
  await until(async () => (await call("plan_move", { number, statusId: stage("Done")?.statusId })).wouldMove);
  await move("Done");
}
await client.close();
