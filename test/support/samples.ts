import { randomUUID } from "node:crypto";
import { upsertInboxItem } from "../../src/store/inbox/stored-items.ts";
import { eventually, type Api, type ApiResponse, type CallOptions } from "./api.ts";
import { readFlow } from "./flows.ts";
import { readInbox, reportedError } from "./inbox.ts";
import { openPull } from "./stories/work-on-card.ts";
import type { TestBoard } from "./world.ts";

/** A successful call, with every field that takes an id or a card's number. */
export interface Sample {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Creates the sample of one call for `caller`, with new resources if the call uses them up. */
type MakeSample = (board: TestBoard, caller: Api) => Sample | Promise<Sample>;

const made = async (api: Api, path: string, fields: object): Promise<string> => {
  const response = await api.post<{ id: string }>(path, fields);
  if (response.status !== 201) throw new Error(`POST ${path} failed: ${response.text}`);
  return response.body.id;
};
const unique = (word: string): string => `${word} ${randomUUID().slice(0, 8)}`;
const label = ({ api }: TestBoard): Promise<string> => made(api, "/v1/labels", { name: unique("label") });
const feature = ({ api }: TestBoard): Promise<string> => made(api, "/v1/features", { name: "Feature" });
const page = ({ api }: TestBoard): Promise<string> => made(api, "/v1/docs", { title: unique("Page") });
const project = ({ api }: TestBoard): Promise<string> =>
  made(api, "/v1/projects", { name: unique("Project") });
const card = async ({ api, projectId }: TestBoard): Promise<number> =>
  (await api.card({ projectId, repositoryIds: [] })).number;
const member = async ({ api }: TestBoard): Promise<string> => {
  const [first] = (await api.get<{ id: string }[]>("/v1/members")).body;
  if (!first) throw new Error("the board has no member");
  return first.id;
};
const release = ({ api, projectId }: TestBoard): Promise<string> =>
  made(api, `/v1/releases?projectId=${projectId}`, { name: "Release" });
const frozenRelease = async (board: TestBoard): Promise<string> => {
  const id = await release(board);
  const { status, text } = await board.api.post(`/v1/releases/${id}/freeze`);
  if (status !== 200) throw new Error(`the release is not frozen: ${text}`);
  return id;
};
const aPromotion = async (board: TestBoard) => {
  const id = await release(board);
  const taskNumbers = [await card(board)];
  await board.api.put(`/v1/releases/${id}/cards`, { taskNumbers });
  return { path: { id }, body: { statusId: board.stages["To do"], taskNumbers } };
};
/** A promotion that no process runs or resumes. */
const aRunningPromotion = async (board: TestBoard) => {
  const { path, body } = await aPromotion(board);
  await board.api.post(`/v1/releases/${path.id}/promote`, body);
  const [action] = await board
    .db<{ id: string; release_id: string; state: string; updated_at: Date }>("operations")
    .where({ release_id: path.id })
    .update({ state: "running", updated_at: new Date(Date.now() + 3_600_000) }, ["id"]);
  return { path: { operationId: action?.id ?? "" } };
};
/** A credential may hold only a few claims. */
const withoutClaims = async (caller: Api): Promise<void> => {
  const { body } = await caller.get<readonly { number: number }[]>("/v1/cards?claimed=mine");
  for (const { number } of body) await caller.delete(`/v1/cards/${number}/claim`);
};
const claimedCard = async (board: TestBoard, caller: Api): Promise<{ number: number; claimId: string }> => {
  await withoutClaims(caller);
  const number = await card(board);
  const { body } = await caller.post<{ claimId: string }>(`/v1/cards/${number}/claim`, { ttlSeconds: 60 });
  return { number, claimId: body.claimId };
};
/** A card whose move into a stage for people was refused. */
const blockedCardOf = async (board: TestBoard, caller: Api): Promise<number> => {
  const number = await card(board);
  const { id } = await board.db("cards").where({ workspace_id: board.workspaceId, number }).first("id");
  const { body: me } = await caller.get<{ clientId: string }>("/v1/me");
  const { user_id: userId } = await board
    .db("credentials")
    .where({ client_id: me.clientId })
    .first("user_id");
  const blocked = {
    reason: "human_only",
    message: "Only people may move cards into this stage.",
    repository: "",
    reasons: [],
    statusId: board.stages.Done,
    headSha: null,
    at: new Date().toISOString(),
  };
  await board
    .db("cards")
    .where({ id })
    .update({ blocked: JSON.stringify(blocked) });
  await board.db("timeline_items").insert({
    id: randomUUID(),
    card_id: id,
    type: "event",
    kind: "promotion_refused",
    actor_id: userId,
    data: JSON.stringify(blocked),
  });
  return number;
};
/** A card whose armed move no job inspects. */
const armedCardOf = async (board: TestBoard): Promise<number> => {
  const number = await card(board);
  const { id } = await board.db("cards").where({ workspace_id: board.workspaceId, number }).first("id");
  const operationId = randomUUID();
  await board.db("operations").insert({
    id: operationId,
    workspace_id: board.workspaceId,
    kind: "move",
    card_id: id,
    stage_id: board.stages.Done,
    input: { index: 0, headShas: null, whenReady: { expiresInHours: 24, onFailingChecks: "disarm" } },
    progress: { promoted: [] },
    actor_id: await member(board),
    state: "waiting",
  });
  await board.db("armed_moves").insert({
    operation_id: operationId,
    card_id: id,
    armed_with: "{}",
    waiting_for: "[]",
    expires_at: board.db.raw("now() + interval '1 day'"),
  });
  return number;
};
const inboxItem = async ({ api, db, workspaceId, projectId }: TestBoard): Promise<string> => {
  const detail = unique("Something broke");
  await upsertInboxItem(db, {
    workspaceId,
    projectId,
    cardId: null,
    repositoryId: null,
    kind: "error_reported",
    naturalKey: detail,
    detail,
    data: reportedError(detail),
  });
  const item = (await readInbox(api, projectId)).find((each) => each.detail === detail);
  if (!item) throw new Error("the inbox item is missing");
  return item.id;
};

/**
 * It sends nothing, so that nothing about it changes by itself. The oldest ones are deleted: a board
 * may have 50.
 */
const pausedWebhook = async ({ api }: TestBoard): Promise<string> => {
  const { body: earlier } = await api.get<{ id: string }[]>("/v1/webhooks");
  for (const old of earlier.slice(0, -20)) await api.delete(`/v1/webhooks/${old.id}`);
  const id = await made(api, "/v1/webhooks", { url: "https://hooks.example.com/" });
  await api.patch(`/v1/webhooks/${id}`, { paused: true });
  return id;
};

const aSuggestedBranch = async (board: TestBoard) => {
  const { number } = await board.api.card({ projectId: board.projectId });
  const clone = await board.clone();
  await clone.push("origin", `HEAD:refs/heads/card/${number}-sample`);
  await clone.remove();
  const items = await eventually(
    async () =>
      (await readInbox(board.api, board.projectId)).filter(({ card: named }) => named?.number === number),
    ({ length }) => length > 0,
  );
  return { path: { itemId: items[0]?.id ?? "" }, query: { card: number } };
};

/** An open pull request that no card has, in the board's first repository. */
const aPullRequest = async (board: TestBoard) => {
  const [[name, repositoryId] = ["", ""]] = Object.entries(board.repositories);
  return {
    repositoryId,
    number: await openPull(board, `work-${randomUUID().slice(0, 8)}`, { repository: name }),
  };
};

const aCard: MakeSample = async (board) => ({ path: { number: await card(board) } });
const inTheProject: MakeSample = ({ projectId }) => ({ query: { projectId } });
const nothing: MakeSample = () => ({});

/** Everything that a card can refer to. */
const relations = async (board: TestBoard) => ({
  repositoryIds: Object.values(board.repositories),
  labelIds: [await label(board)],
  featureId: await feature(board),
  docIds: [await page(board)],
  assigneeId: await member(board),
  parentNumber: await card(board),
});

/** A successful call of each route of `/v1`, by the route's name. */
export const samples: Readonly<Record<string, MakeSample>> = {
  "GET /v1/me": nothing,
  "GET /v1/workspaces": nothing,
  "GET /v1/organizations": nothing,
  "GET /v1/board": inTheProject,
  "GET /v1/backlog": inTheProject,

  "GET /v1/cards": async (board) => ({
    query: {
      projectId: board.projectId,
      statusId: board.stages["To do"],
      label: await label(board),
      feature: await feature(board),
      assignee: await member(board),
    },
  }),
  "POST /v1/cards": async (board) => ({
    body: {
      title: "A card",
      projectId: board.projectId,
      statusId: board.stages["To do"],
      pullRequest: await aPullRequest(board),
      ...(await relations(board)),
    },
  }),
  "GET /v1/cards/{number}": aCard,
  "PATCH /v1/cards/{number}": async (board) => ({
    path: { number: await card(board) },
    body: { title: "Changed", ...(await relations(board)) },
  }),
  "DELETE /v1/cards/{number}": aCard,
  "PUT /v1/cards/{number}/repositories/{repositoryId}": async (board) => {
    const { repositoryId, number: prNumber } = await aPullRequest(board);
    return { path: { number: await card(board), repositoryId }, body: { prNumber } };
  },
  "DELETE /v1/cards/{number}/repositories/{repositoryId}": async ({ api, projectId, repositories }) => {
    const [repositoryId = ""] = Object.values(repositories);
    const { number } = await api.card({ projectId, repositoryIds: [repositoryId] });
    return { path: { number, repositoryId } };
  },
  "POST /v1/cards/{number}/move": async (board) => ({
    path: { number: await card(board) },
    body: { statusId: board.stages["To do"], index: 0 },
  }),
  "DELETE /v1/cards/{number}/armed": async (board) => ({
    path: { number: await armedCardOf(board) },
  }),
  "DELETE /v1/cards/{number}/blocked": async (board, caller) => ({
    path: { number: await blockedCardOf(board, caller) },
  }),
  "GET /v1/cards/{number}/move-plan": async (board) => ({
    path: { number: await card(board) },
    query: { statusId: board.stages["To do"] },
  }),
  "GET /v1/cards/{number}/children": aCard,
  "GET /v1/cards/{number}/timeline": aCard,
  "GET /v1/cards/{number}/checks": aCard,
  "GET /v1/cards/{number}/reviews": aCard,
  "POST /v1/cards/{number}/comments": async (board) => ({
    path: { number: await card(board) },
    body: { body: "A comment" },
  }),
  "PATCH /v1/cards/{number}/comments/{commentId}": async (board, caller) => {
    const number = await card(board);
    const commentId = await made(caller, `/v1/cards/${number}/comments`, { body: "A comment" });
    return { path: { number, commentId }, body: { body: "Edited" } };
  },

  "POST /v1/cards/{number}/claim": async (board, caller) => {
    const { number, claimId } = await claimedCard(board, caller);
    return { path: { number }, body: { ttlSeconds: 60, claimId } };
  },
  "DELETE /v1/cards/{number}/claim": async (board, caller) => ({
    path: { number: (await claimedCard(board, caller)).number },
    body: { outcome: "Done" },
  }),
  "POST /v1/claims/next": async (board, caller) => {
    await withoutClaims(caller);
    const { api, projectId, stages } = board;
    const labelId = await label(board);
    await api.card({ projectId, repositoryIds: [], statusId: stages["To do"], labelIds: [labelId] });
    return { body: { projectId, statusId: stages["To do"], labels: [labelId], ttlSeconds: 60 } };
  },

  "GET /v1/search": () => ({ query: { q: "card" } }),

  "GET /v1/labels": nothing,
  "POST /v1/labels": () => ({ body: { name: unique("label"), color: "teal" } }),
  "PATCH /v1/labels/{labelId}": async (board) => ({
    path: { labelId: await label(board) },
    body: { color: "red" },
  }),
  "DELETE /v1/labels/{labelId}": async (board) => ({ path: { labelId: await label(board) } }),

  "GET /v1/features": nothing,
  "POST /v1/features": () => ({ body: { name: "Feature" } }),
  "PATCH /v1/features/{featureId}": async (board) => ({
    path: { featureId: await feature(board) },
    body: { archived: true },
  }),
  "DELETE /v1/features/{featureId}": async (board) => ({ path: { featureId: await feature(board) } }),

  "GET /v1/docs": nothing,
  "GET /v1/docs/{docId}": async (board) => ({ path: { docId: await page(board) } }),
  "POST /v1/docs": async (board) => ({ body: { title: unique("Page"), parentId: await page(board) } }),
  "PATCH /v1/docs/{docId}": async (board) => ({
    path: { docId: await page(board) },
    body: { parentId: await page(board), body: "changed" },
  }),
  "DELETE /v1/docs/{docId}": async (board) => ({ path: { docId: await page(board) } }),

  "GET /v1/projects": nothing,
  "POST /v1/projects": ({ projectId }) => ({ body: { name: unique("Project"), flowFrom: projectId } }),
  "PATCH /v1/projects/{projectId}": async (board) => ({
    path: { projectId: await project(board) },
    body: { description: "changed" },
  }),
  "DELETE /v1/projects/{projectId}": async (board) => ({ path: { projectId: await project(board) } }),
  "GET /v1/projects/{projectId}/flow": ({ projectId }) => ({ path: { projectId } }),
  "PUT /v1/projects/{projectId}/flow": async (board) => ({
    path: { projectId: board.projectId },
    body: { ...(await readFlow(board)), staleAfterDays: 9 },
  }),
  "GET /v1/projects/{projectId}/repositories": ({ projectId }) => ({ path: { projectId } }),
  "PUT /v1/projects/{projectId}/repositories": ({ projectId, repositories }) => ({
    path: { projectId },
    body: { repositories: Object.values(repositories).map((id) => ({ id, linkByDefault: true })) },
  }),
  "GET /v1/repositories": nothing,
  "GET /v1/repositories/{repositoryId}/pull-requests": ({ repositories }) => ({
    path: { repositoryId: Object.values(repositories)[0] ?? "" },
  }),
  "GET /v1/members": nothing,

  "GET /v1/inbox": inTheProject,
  "POST /v1/inbox/{itemId}/adopt": aSuggestedBranch,
  "DELETE /v1/inbox/{itemId}": async (board) => ({ path: { itemId: await inboxItem(board) } }),

  "GET /v1/trunk": inTheProject,
  "GET /v1/trunk/refusals": inTheProject,
  "GET /v1/events": nothing,

  "GET /v1/webhooks": nothing,
  "POST /v1/webhooks": () => ({
    body: { url: "https://hooks.example.com/", kinds: ["release_changed"] },
  }),
  "PATCH /v1/webhooks/{id}": async (board) => ({
    path: { id: await pausedWebhook(board) },
    body: { url: "https://hooks.example.com/", kinds: ["card_created"] },
  }),
  "DELETE /v1/webhooks/{id}": async (board) => ({ path: { id: await pausedWebhook(board) } }),
  "POST /v1/webhooks/{id}/ping": async (board) => ({ path: { id: await pausedWebhook(board) } }),
  "POST /v1/webhooks/{id}/rotate": async (board) => ({ path: { id: await pausedWebhook(board) } }),
  "POST /v1/webhooks/{id}/replay": async (board) => ({
    path: { id: await pausedWebhook(board) },
    body: { after: 0 },
  }),
  "GET /v1/webhooks/{id}/deliveries": async (board) => ({ path: { id: await pausedWebhook(board) } }),

  "GET /v1/releases": inTheProject,
  "GET /v1/releases/{id}": async (board) => ({ path: { id: await release(board) } }),
  "GET /v1/releases/{id}/preview": async (board) => ({ path: { id: await release(board) } }),
  "GET /v1/releases/{id}/operation": async (board) => ({ path: { id: await release(board) } }),
  "POST /v1/releases": ({ projectId }) => ({ query: { projectId }, body: { name: "Release" } }),
  "PUT /v1/releases/{id}/cards": async (board) => ({
    path: { id: await release(board) },
    body: { taskNumbers: [await card(board)] },
  }),
  "DELETE /v1/releases/{id}": async (board) => ({ path: { id: await release(board) } }),
  "POST /v1/releases/{id}/freeze": async (board) => ({ path: { id: await release(board) } }),
  "DELETE /v1/releases/{id}/freeze": async (board) => ({ path: { id: await frozenRelease(board) } }),
  "POST /v1/releases/{id}/pick": async (board) => ({
    path: { id: await frozenRelease(board) },
    body: { taskNumber: await card(board) },
  }),
  "POST /v1/releases/{id}/complete": async (board) => ({
    path: { id: await release(board) },
    body: {
      versions: [
        { repositoryId: Object.values(board.repositories)[0], tagName: unique("v").replace(" ", "") },
      ],
    },
  }),
  "POST /v1/releases/{id}/promote": aPromotion,
  "GET /v1/operations": async (board) => ({ query: { card: await card(board) } }),
  "GET /v1/operations/{operationId}": async (board, caller) => {
    const { path, body } = await aPromotion(board);
    await caller.post(`/v1/releases/${path.id}/promote`, body);
    const { id: operationId } = await board.db("operations").where({ release_id: path.id }).first("id");
    return { path: { operationId } };
  },
  "POST /v1/operations/{operationId}/cancel": (board) => aRunningPromotion(board),
};

/** The sample of a route; throws if there is none. */
export async function sampleOf(name: string, board: TestBoard, caller: Api = board.api): Promise<Sample> {
  const make = samples[name];
  if (!make) {
    throw new Error(
      `${name} has no sample. Add one to test/support/samples.ts, which the tests of all routes use.`,
    );
  }
  return make(board, caller);
}

/** Makes the call of a sample. */
export function callSample(
  name: string,
  sample: Sample,
  api: Api,
  options: CallOptions = {},
): Promise<ApiResponse<Record<string, unknown>>> {
  const [method = "", template = ""] = name.split(" ");
  const path = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
    encodeURIComponent(String(sample.path?.[parameter] ?? "")),
  );
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(sample.query ?? {})) query.set(field, String(value));
  const address = query.size > 0 ? `${path}?${query.toString()}` : path;
  return api.call(method, address, sample.body, options);
}
