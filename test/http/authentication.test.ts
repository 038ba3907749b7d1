import { beforeAll, describe, expect, it } from "@jest/globals";
import { makeCredentialKey } from "../../src/actions/credentials/credential-key.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { allCalls, writeCalls } from "../support/routes.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const clientIdOf = (api: Api): string => api.apiKey.split("_")[1] ?? "";
const revoke = (api: Api) => revokeCredential(world.service.deps.db, clientIdOf(api));
const expire = (api: Api, when: string) =>
  world.service.deps.db.raw(
    "update credentials set expires_at = now() + cast(? as interval) where client_id = ?",
    [when, clientIdOf(api)],
  );

/** Calls with `fetch`, so that the header can have any value. */
const call = async (method: string, path: string, headers: Record<string, string>) => {
  const response = await fetch(`${board.api.baseUrl}${path}`, { method, headers });
  return { response, body: (await response.json()) as Record<string, unknown> };
};
const withAuthorization = (authorization?: string) =>
  call("GET", "/v1/me", authorization === undefined ? {} : { authorization });

const refused = {
  message: "Send a valid API key as `Authorization: Bearer <API key>`.",
  error: "Unauthorized",
  statusCode: 401,
};

async function expectRefused(result: ReturnType<typeof call>): Promise<void> {
  const { response, body } = await result;
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(body).toEqual(refused);
}

describe("an API key", () => {
  it.each(["Bearer", "bearer", "BEARER"])("is accepted with the scheme written %s", async (scheme) => {
    expect((await withAuthorization(`${scheme} ${board.api.apiKey}`)).response.status).toBe(200);
  });

  it.each<[string, () => string | undefined]>([
    ["missing", () => undefined],
    ["empty", () => ""],
    ["a scheme without a key", () => "Bearer"],
    ["without its scheme", () => board.api.apiKey],
    ["with another scheme", () => `Basic ${Buffer.from(board.api.apiKey).toString("base64")}`],
    ["with GitHub's scheme", () => `token ${board.api.apiKey}`],
    ["with text behind it", () => `Bearer ${board.api.apiKey} x`],
    ["sent twice in one header", () => `Bearer ${board.api.apiKey}, Bearer ${board.api.apiKey}`],
    ["malformed", () => "Bearer tlk_x"],
    ["the client id alone", () => `Bearer ${clientIdOf(board.api)}`],
    ["well formed and unknown", () => `Bearer ${makeCredentialKey().text}`],
    [
      "with a wrong checksum",
      () => `Bearer ${board.api.apiKey.slice(0, -1)}${board.api.apiKey.endsWith("0") ? 1 : 0}`,
    ],
    [
      "of a known client with another secret",
      () => {
        const ours = board.api.apiKey.split("_");
        const theirs = makeCredentialKey().text.split("_");
        return `Bearer tlk_${ours[1]}_${theirs[2]}`;
      },
    ],
  ])("%s is refused", async (_, authorization) => {
    await expectRefused(withAuthorization(authorization()));
  });

  it("is refused if the form and the checksum are right and the secret is wrong", async () => {
    const { text: apiKey, clientId } = makeCredentialKey();
    const stranger = await board.as({});
    const { db } = world.service.deps;
    await db("credentials")
      .where({ client_id: clientIdOf(stranger) })
      .update({ client_id: clientId });
    await expectRefused(withAuthorization(`Bearer ${apiKey}`));
  });

  it("is refused in the query and in the body", async () => {
    const { apiKey } = board.api;
    await expectRefused(call("GET", `/v1/me?access_token=${apiKey}&api_key=${apiKey}&apiKey=${apiKey}`, {}));
    await expectRefused(call("GET", "/v1/me", { "x-api-key": apiKey, cookie: `authorization=${apiKey}` }));
  });

  it("is refused immediately after its revocation", async () => {
    const api = await board.as({});
    expect((await api.get("/v1/me")).status).toBe(200);
    await revoke(api);
    await expectRefused(withAuthorization(`Bearer ${api.apiKey}`));
  });

  it("is accepted until it expires and refused afterwards", async () => {
    const api = await board.as({});
    await expire(api, "1 minute");
    expect((await api.get("/v1/me")).status).toBe(200);
    await expire(api, "-1 millisecond");
    await expectRefused(withAuthorization(`Bearer ${api.apiKey}`));
  });

  it("gets no stored response after its revocation", async () => {
    const api = await board.as({});
    const key = "revoked-before-replay";
    expect((await api.post("/v1/cards", { title: "x" }, { key })).status).toBe(201);
    await revoke(api);
    expect(await api.post("/v1/cards", { title: "x" }, { key })).toMatchObject({
      status: 401,
      body: refused,
    });
  });

  // Contract: Authentication: Every call needs a Bearer API key, checked first
  it.each(allCalls.map((sample) => [sample.name, sample] as const))(
    "is required by %s before any other check",
    async (_, { method, path }) => {
      const headers = { "x-service-workspace": "nonsense", "idempotency-key": "short" };
      await expectRefused(call(method, path, headers));
    },
  );
});

describe("the scope `read`", () => {
  it("permits reads", async () => {
    const reader = await board.as({ scopes: ["read"] });
    const { number } = await board.api.card();
    for (const path of ["/v1/me", "/v1/board", "/v1/backlog", `/v1/cards/${number}`]) {
      expect((await reader.get(path)).status).toBe(200);
    }
  });

  // Contract: Authentication: A write without the `write` scope is 403
  it.each(writeCalls.map((sample) => [sample.name, sample] as const))(
    "does not permit %s, whatever the role, before the idempotency key is checked",
    async (_, { method, path }) => {
      const reader = await board.as({ role: "maintainer", scopes: ["read"] });
      const result = await call(method, path, { authorization: `Bearer ${reader.apiKey}` });
      expect(result.response.status).toBe(403);
      expect(result.body).toEqual({
        message: "This credential has the scope read only. Use one with the scope write.",
        error: "Forbidden",
        statusCode: 403,
      });
    },
  );
});

describe("the role of a credential", () => {
  it.each(writeCalls.map((sample) => [sample.name, sample] as const))(
    "is checked by %s, which names the role it requires and the role it got",
    async (_, { method, path, role }) => {
      const viewer = await board.as({ role: "viewer" });
      const headers = { authorization: `Bearer ${viewer.apiKey}`, "idempotency-key": "k".repeat(16) };
      const result = await call(method, path, headers);
      expect(result.response.status).toBe(403);
      expect(result.body).toEqual({
        message: `This call needs the role ${role}. You have the role viewer on this board.`,
        error: "Forbidden",
        statusCode: 403,
      });
    },
  );

  // Contract: Authentication: A credential has its own role on each board
  it("differs by board", async () => {
    const other = await world.board();
    const api = await board.as({ role: "viewer", boards: [board, other] });
    const { db } = world.service.deps;
    await db("memberships")
      .where({ workspace_id: other.workspaceId, role: "viewer" })
      .update({ role: "member" });
    const on = (workspaceId: string) =>
      api.post("/v1/cards", { title: "x" }, { headers: { "x-service-workspace": workspaceId } });
    expect((await on(board.workspaceId)).status).toBe(403);
    expect((await on(other.workspaceId)).status).toBe(201);
  });

  it("also applies to a replay if it was lowered", async () => {
    const api = await board.as({ role: "member" });
    const key = "lowered-before-replay";
    expect((await api.post("/v1/cards", { title: "x" }, { key })).status).toBe(201);
    const { db } = world.service.deps;
    const user = db("credentials")
      .where({ client_id: clientIdOf(api) })
      .select("user_id");
    await db("memberships").where("user_id", user).update({ role: "viewer" });
    expect((await api.post("/v1/cards", { title: "x" }, { key })).status).toBe(403);
  });
});

describe("an account call", () => {
  // Contract: Account: `GET /v1/me` returns client id, name, scopes and boards, no secret; `answering` is `null`
  it("describes the credential without its secret", async () => {
    const other = await world.board();
    const api = await board.as({ role: "member", scopes: ["read"], boards: [board, other] });
    const me = await api.get("/v1/me");
    expect(me.body).toEqual({
      clientId: clientIdOf(api),
      name: "member agent",
      scopes: ["read"],
      boards: [
        { workspaceId: board.workspaceId, organizationId: expect.any(String), role: "member" },
        { workspaceId: other.workspaceId, organizationId: expect.any(String), role: "member" },
      ],
      answering: null,
    });
  });

  // Contract: Account: `GET /v1/workspaces` lists the credential's boards with its roles
  it("lists only the boards that the credential reaches, each with its role", async () => {
    await world.board();
    const api = await board.as({ role: "viewer" });
    expect((await api.get("/v1/workspaces")).body).toEqual([
      {
        id: board.workspaceId,
        name: board.owner,
        slug: board.owner,
        organizationId: expect.any(String),
        organizationSlug: board.owner,
        organizationName: board.owner,
        role: "viewer",
      },
    ]);
  });

  // Contract: Account: `GET /v1/organizations` lists the credential's boards in `workspaceIds`
  it("lists the organizations with only the boards that are reached, and without a role", async () => {
    const other = await world.board();
    const api = await board.as({ boards: [board, other] });
    const one = { id: expect.any(String), name: expect.any(String) };
    expect((await api.get("/v1/organizations")).body).toEqual([
      { ...one, slug: board.owner, workspaceIds: [board.workspaceId] },
      { ...one, slug: other.owner, workspaceIds: [other.workspaceId] },
    ]);
  });

  it("returns an empty list, not an error, if the credential reaches no board", async () => {
    const api = await board.as({ boards: [] });
    expect((await api.get("/v1/me")).body).toMatchObject({ boards: [] });
    expect((await api.get("/v1/workspaces")).body).toEqual([]);
    expect((await api.get("/v1/organizations")).body).toEqual([]);
  });

  // Contract: Account: `me`, `organizations` and `workspaces` ignore the workspace header
  it.each(["/v1/me", "/v1/workspaces", "/v1/organizations"])(
    "%s ignores the workspace header",
    async (path) => {
      const other = await world.board();
      const api = await board.as({ boards: [board, other] });
      for (const header of [
        {},
        { "x-service-workspace": "a name" },
        { "x-service-workspace": other.projectId },
      ]) {
        expect((await makeApi(board.api.baseUrl, api.apiKey).get(path, { headers: header })).status).toBe(
          200,
        );
      }
    },
  );
});

describe("the log line of a request", () => {
  const lineOf = async (response: Response): Promise<Record<string, unknown> | undefined> => {
    const requestId = response.headers.get("x-request-id");
    const lines = await eventually(
      async () =>
        world
          .logged()
          .split("\n")
          .filter((line) => line.includes(`"requestId":"${requestId}"`) && line.includes('"msg":"request"')),
      ({ length }) => length === 1,
    );
    return JSON.parse(lines[0] ?? "") as Record<string, unknown>;
  };

  it("has the client id of the API key and the remote address, but not the key", async () => {
    const { response } = await withAuthorization(`Bearer ${board.api.apiKey}`);
    const line = await lineOf(response);
    expect(line).toMatchObject({
      path: "/v1/me",
      status: 200,
      clientId: clientIdOf(board.api),
      remoteAddress: "127.0.0.1",
    });
    expect(JSON.stringify(line)).not.toContain(board.api.apiKey.split("_")[2]);
  });

  it("has no client id if the key is not valid", async () => {
    const wrong = board.api.apiKey.replace(/.{8}$/, "00000000");
    const { response } = await withAuthorization(`Bearer ${wrong}`);
    const line = await lineOf(response);
    expect(line).toMatchObject({ status: 401, remoteAddress: "127.0.0.1" });
    expect(line).not.toHaveProperty("clientId");
  });
});
