import { createHash } from "node:crypto";
import { documentedResponse } from "../documented.ts";
import { eventually, type ApiCard } from "../api.ts";
import { readFlow } from "../flows.ts";
import { readInbox } from "../inbox.ts";
import type { TestBoard, TestWorld } from "../world.ts";
import { startReceiver } from "./outgoing-webhooks.ts";
import { openPull, pushTo, writeFile } from "./work-on-card.ts";

/** A recorded call with its responses by status. */
export interface Example {
  readonly path: string;
  readonly body?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

type Identified = { readonly id: string };

/** Calls every route on a board with one repository, and returns the calls and responses by operation. */
export async function recordExamples(world: TestWorld): Promise<Record<string, Example>> {
  const board = await world.board();
  const { api, projectId, stages, owner } = board;
  const examples: Record<string, { path: string; body?: unknown; responses: Record<string, unknown> }> = {};

  /** Makes a call and records it. A later success of the same route replaces an earlier one. */
  async function record<Body = Identified>(method: string, path: string, body?: unknown): Promise<Body> {
    const { status, text } = await api.call(method, path, body);
    const operation = documentedResponse(method, path, status)?.operation;
    if (operation === undefined) throw new Error(`there is no operation ${method} ${path}`);
    if (status >= 500 || status === 400) throw new Error(`${operation} failed: ${text}`);
    const result: unknown = text === "" ? null : JSON.parse(text);
    const responses = { ...examples[operation]?.responses, [status]: result };
    const call = status < 300 ? { path, ...(body !== undefined && { body }) } : examples[operation];
    examples[operation] = { path, ...call, responses };
    return result as Body;
  }
  const get = <Body = Identified>(path: string) => record<Body>("GET", path);
  const settled = () => world.forge.waitUntilIdle();
  const inboxItem = async (kind: string): Promise<Identified> => {
    const items = await eventually(
      async () => (await readInbox(api)).filter((item) => item.kind === kind),
      ({ length }) => length > 0,
    );
    return items[0]!;
  };
  const moveTo = (stage: keyof TestBoard["stages"], number: number) =>
    record("POST", `/v1/cards/${number}/move`, { statusId: stages[stage], index: 0 });
  const branchOf = async (number: number) => (await api.readCard(number)).repositories[0]?.branchName ?? "";

  for (const path of ["/v1/me", "/v1/workspaces", "/v1/organizations"]) await get(path);
  const [ada] = await get<Identified[]>("/v1/members");

  const label = await record("POST", "/v1/labels", { name: "greeting", color: "teal" });
  await record("PATCH", `/v1/labels/${label.id}`, { color: "green" });
  const feature = await record("POST", "/v1/features", { name: "Greetings", description: "Say hello." });
  await record("PATCH", `/v1/features/${feature.id}`, { color: "blue" });
  const guide = await record("POST", "/v1/docs", { title: "Guide" });
  const page = await record("POST", "/v1/docs", {
    title: "How we ship",
    body: "Small cards, see [[Guide]] and [[Glossary]].",
    parentId: guide.id,
  });
  await record("PATCH", `/v1/docs/${page.id}`, { title: "How we ship" });

  // A card from draft to review.
  const { number } = await record<ApiCard>("POST", "/v1/cards", {
    title: "Say hello",
    description: "Greets every user by name, see [[How we ship]].",
    labelIds: [label.id],
    featureId: feature.id,
    assigneeId: ada?.id,
    priority: "high",
  });
  const other = await api.card({ title: "Say goodbye" });
  const draft = await api.card({ title: "Say it in French", repositoryIds: [] });
  await record("PATCH", `/v1/cards/${number}`, { dueDate: "2026-02-13" });
  await api.patch(`/v1/cards/${draft.number}`, { parentNumber: number });
  await get(`/v1/cards/${number}/children`);
  await get("/v1/backlog");
  await get(`/v1/cards?assignee=${ada?.id}&label=${label.id}&sort=board`);
  await moveTo("In progress", number);
  const sha = await pushTo(board, await branchOf(number), "hello.txt");
  await api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  await moveTo("In review", number);
  const run = { name: "test", head_sha: sha };
  await board.person("ada", "POST", `/repos/${owner}/web/check-runs`, { ...run, status: "in_progress" });
  const whenReady = { expiresInHours: 8, headShas: { [`${owner}/web`]: sha } };
  await record("POST", `/v1/cards/${number}/move`, { statusId: stages.Done, index: 0, whenReady });
  await record("DELETE", `/v1/cards/${number}/armed`);
  await board.person("ada", "POST", `/repos/${owner}/web/check-runs`, {
    ...run,
    status: "completed",
    conclusion: "success",
    details_url: "https://ci.example.com/runs/1",
    output: { title: "Tests", summary: "12 tests passed." },
  });
  await board.person("grace", "POST", `/repos/${owner}/web/pulls/1/reviews`, {
    event: "APPROVE",
    body: "Looks good.",
  });
  await settled();
  await api.cardWhen(number, ({ repositories }) => repositories[0]?.checksState === "passing");
  await get(`/v1/cards/${number}/checks`);
  await get(`/v1/cards/${number}/reviews`);
  const comment = await record("POST", `/v1/cards/${number}/comments`, { body: "Ready to merge." });
  await get("/v1/search?q=hello&kinds=cards,pages");
  await record("PATCH", `/v1/cards/${number}/comments/${comment.id}`, { body: "Ready for the release." });

  // A release with a card that cannot be merged because of a conflict, and one that can.
  await api.move(other.number, stages["In progress"]);
  await writeFile(board, "web", await branchOf(other.number), "app.txt", "goodbye\n");
  await api.cardWhen(other.number, ({ repositories }) => repositories[0]?.prState === "draft");
  await api.move(other.number, stages["In review"]);
  await writeFile(board, "web", "main", "app.txt", "hello\n");
  await settled();
  await moveTo("Done", other.number);
  await get("/v1/inbox");
  await get("/v1/board?include=details");
  await record("DELETE", `/v1/cards/${other.number}/blocked`);
  await get(`/v1/cards/${number}/move-plan?statusId=${stages.Done}`);
  const release = await record("POST", "/v1/releases", { name: "1.0" });
  await record("PUT", `/v1/releases/${release.id}/cards`, { taskNumbers: [number, other.number] });
  const promotions = () =>
    board
      .db<{ id: string; release_id: string }>("operations")
      .where({ release_id: release.id })
      .orderBy("created_at");
  // Cancelled while the first card waits for GitHub.
  const { faults } = world.forge.control;
  faults.add({ match: { operation: "Inspect" }, fault: { kind: "hold" } });
  const promoting = api.post(`/v1/releases/${release.id}/promote`, {
    statusId: stages.Done,
    taskNumbers: [other.number, number],
  });
  const [cancelled] = await eventually(promotions, ({ length }) => length > 0);
  await get(`/v1/releases/${release.id}/operation`);
  await record("POST", `/v1/operations/${cancelled?.id}/cancel`);
  faults.clear();
  await promoting;
  await settled();
  await record("POST", `/v1/releases/${release.id}/promote`, { statusId: stages.Done });
  const action = (await promotions()).at(-1);
  await get(`/v1/operations/${action?.id}`);
  await get("/v1/operations?limit=3");
  await record("POST", `/v1/operations/${action?.id}/cancel`);
  await settled();
  await get(`/v1/cards/${number}`);

  // A hotfix is picked into the frozen release.
  await record("PUT", `/v1/releases/${release.id}/cards`, { taskNumbers: [number] });
  await record("POST", `/v1/releases/${release.id}/freeze`);
  const fix = await api.card({ title: "Fix the greeting" });
  await api.move(fix.number, stages["In progress"]);
  const fixed = await pushTo(board, await branchOf(fix.number), "greeting.txt");
  const passed = { name: "test", head_sha: fixed, status: "completed", conclusion: "success" };
  await board.person("ada", "POST", `/repos/${owner}/web/check-runs`, passed);
  await api.cardWhen(fix.number, ({ repositories }) => repositories[0]?.prState === "draft");
  const pick = (taskNumber: number) => record("POST", `/v1/releases/${release.id}/pick`, { taskNumber });
  await pick(fix.number);
  await moveTo("Done", fix.number);
  await settled();
  await pick(fix.number);
  await get(`/v1/cards/${fix.number}/timeline`);
  await get(`/v1/releases/${release.id}/preview`);
  const repositoryId = Object.values(board.repositories)[0];
  await record("POST", `/v1/releases/${release.id}/complete`, {
    versions: [{ repositoryId, tagName: "v1.0.0" }],
  });
  await get(`/v1/releases/${release.id}`);
  await get("/v1/releases");
  await settled();
  await get("/v1/trunk");
  await get("/v1/trunk/refusals");
  await get("/v1/events?after=1000000");
  await eventually(
    () => get<{ events: unknown[] }>(`/v1/events?after=0&card=${number}&limit=3`),
    ({ events }) => events.length === 3,
  );
  // Its response does not end, so none is recorded.
  examples["GET /v1/audit"] = { path: "/v1/audit?from=2026-01-31T12:00:00Z", responses: {} };
  examples["GET /v1/events/stream"] = { path: `/v1/events/stream?card=${number}`, responses: {} };
  const next = await api.post<Identified>("/v1/releases", { name: "1.1" });
  await api.post(`/v1/releases/${next.body.id}/freeze`);
  await record("DELETE", `/v1/releases/${next.body.id}/freeze`);
  await record("DELETE", `/v1/releases/${next.body.id}`);

  // A suggested branch is adopted, another one dismissed.
  for (const method of ["POST", "DELETE"]) {
    const suggested = await api.card({ title: "Say it in Spanish" });
    await pushTo(board, `card/${suggested.number}-spanish`, "spanish.txt");
    await settled();
    const { id } = await inboxItem("branch_suggestion");
    await record(method, method === "POST" ? `/v1/inbox/${id}/adopt` : `/v1/inbox/${id}`);
  }

  // Work that began on GitHub gets a card.
  const webId = board.repositories["web"] ?? "";
  const french = await openPull(board, "french", { title: "Say it in French" });
  await openPull(board, "german", { title: "Say it in German" });
  await settled();
  await get(`/v1/repositories/${webId}/pull-requests?linked=false`);
  await record("PUT", `/v1/cards/${draft.number}/repositories/${webId}`, { prNumber: french });
  await record("DELETE", `/v1/cards/${draft.number}/repositories/${webId}`);

  await recordWebhook(board, record);

  const flow = await readFlow(board);
  await get(`/v1/projects/${projectId}/flow`);
  await record("PUT", `/v1/projects/${projectId}/flow`, { ...flow, staleAfterDays: 7 });
  for (const path of ["/v1/labels", "/v1/features", "/v1/docs", `/v1/docs/${page.id}`, "/v1/repositories"])
    await get(path);
  await get(`/v1/projects/${projectId}/repositories`);
  await record("PUT", `/v1/projects/${projectId}/repositories`, {
    repositories: [{ id: repositoryId, linkByDefault: true }],
  });
  const project = await record("POST", "/v1/projects", { name: "Mobile app" });
  await record("PATCH", `/v1/projects/${project.id}`, { description: "The app for phones." });
  await get("/v1/projects");
  await record("DELETE", `/v1/projects/${project.id}`);
  await record("POST", `/v1/cards/${draft.number}/claim`, { ttlSeconds: 900, note: "Translating" });
  await record("DELETE", `/v1/cards/${draft.number}/claim`, { outcome: "Translated" });
  await record("POST", "/v1/claims/next", { statusId: stages.Backlog, ttlSeconds: 900 });
  await record("DELETE", `/v1/cards/${draft.number}`);
  await record("DELETE", `/v1/docs/${page.id}`);
  await record("DELETE", `/v1/features/${feature.id}`);
  await record("DELETE", `/v1/labels/${label.id}`);
  return normalized(examples, board, world);
}

/** Calls the routes of outgoing webhooks, with a receiver that responds. */
async function recordWebhook(
  board: TestBoard,
  record: <Body = Identified>(method: string, path: string, body?: unknown) => Promise<Body>,
): Promise<void> {
  const receiver = await startReceiver();
  try {
    const url = receiver.url.replace("127.0.0.1", "hooks.example.com");
    const { id } = await record("POST", "/v1/webhooks", { url, kinds: ["status_changed", "blocked"] });
    await record("POST", `/v1/webhooks/${id}/ping`);
    await record("GET", `/v1/webhooks/${id}/deliveries`);
    await record("PATCH", `/v1/webhooks/${id}`, { paused: true });
    await record("POST", `/v1/webhooks/${id}/rotate`);
    const { body } = await board.api.get<{ head: string }>("/v1/events");
    await record("POST", `/v1/webhooks/${id}/replay`, { after: Number(body.head) - 10 });
    await record("GET", "/v1/webhooks");
    await record("DELETE", `/v1/webhooks/${id}`);
  } finally {
    await receiver.close();
  }
}

/** Replaces what differs on each run: ids, commits, times, addresses and random names. */
function normalized(
  examples: Readonly<Record<string, Example>>,
  { owner, api }: TestBoard,
  { forge }: TestWorld,
): Record<string, Example> {
  const numbered = (name: (at: number) => string): ((found: string) => string) => {
    const known = new Map<string, string>();
    return (found) => {
      const given = known.get(found) ?? name(known.size + 1);
      known.set(found, given);
      return given;
    };
  };
  const id = numbered((at) => `019c1284-2f70-7000-8000-${String(at).padStart(12, "0")}`);
  const commit = numbered((at) => createHash("sha1").update(`commit ${at}`).digest("hex"));
  const text = JSON.stringify(examples);
  const times = [...new Set(text.match(TIME))].toSorted();
  const start = Date.parse(times[0] ?? "");
  // A second of the recording becomes ten minutes in the example.
  const time = (found: string) =>
    new Date(Date.parse("2026-01-31T09:30:00Z") + (Date.parse(found) - start) * 600)
      .toISOString()
      .replace(/:\d\d\.\d{3}Z/, ":00.000Z");
  return JSON.parse(
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, id)
      .replaceAll(/\b[0-9a-f]{40}\b/g, commit)
      .replaceAll(TIME, time)
      .replaceAll(/http:\/\/hooks\.example\.com:\d+/g, "https://hooks.example.com")
      .replaceAll(/whsec_[\w+/]+=/g, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
      .replaceAll(/"ms":\d+/g, '"ms":41')
      .replaceAll(/"leadTimeDays":[\d.e-]+/g, '"leadTimeDays":0.1')
      .replaceAll(`"${dayOf(Date.now())}"`, '"2026-01-31"')
      .replaceAll(`"${dayOf(Date.now() - 30 * 86_400_000)}"`, '"2026-01-01"')
      .replaceAll(api.apiKey.split("_")[1] ?? "", "4hXw9TqLr2Zb")
      .replaceAll(forge.apiUrl, "https://api.github.com")
      .replaceAll(forge.cloneUrl, "https://github.com")
      .replaceAll("maintainer agent", "Planner")
      .replaceAll(new RegExp(`(ada|grace)-${owner.slice(4)}`, "g"), "$1")
      .replaceAll(owner, "acme"),
  ) as Record<string, Example>;
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
