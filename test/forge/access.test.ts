import { createSign, generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { makeRepository, tokenOf, type ForgeRepository } from "./forge-repository.ts";

let world: TestForge;
let repository: ForgeRepository;
let installation: number;
let hoursOn = 0;

beforeAll(async () => {
  world = await startTestForge({ clock: () => new Date(Date.now() + hoursOn * 3_600_000) });
  repository = await makeRepository(world);
  installation = (await world.api("GET", "/orgs/acme/installation", undefined, world.appJwt())).number("id");
});
afterAll(() => world.stop());

const seconds = () => Math.floor(Date.now() / 1000);

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

function sign(claims: object, privateKey = world.forge.app.privateKey): string {
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(privateKey, "base64url")}`;
}

const mint = (body: object = {}) =>
  world.api("POST", `/app/installations/${installation}/access_tokens`, body, world.appJwt());

const ask = async (claims: object, key?: string) => {
  const response = await world.api("GET", "/app", undefined, sign(claims, key));
  return [response.status, response.status === 200 ? "" : response.at("message")];
};

const good = () => ({ iat: seconds() - 60, exp: seconds() + 500, iss: world.forge.app.id });

describe("the App's credentials", () => {
  test("are a JWT with its id or client id, for at most ten minutes", async () => {
    expect(await ask(good())).toEqual([200, ""]);
    expect(await ask({ ...good(), iss: world.forge.app.clientId })).toEqual([200, ""]);
    expect((await ask({ ...good(), exp: seconds() + 3_600 }))[1]).toMatch(/'exp'\) is too far in the future/);
    expect((await ask({ ...good(), exp: seconds() - 1 }))[0]).toBe(401);
    expect(await ask({ ...good(), iss: 1 })).toEqual([401, "Integration not found"]);
  });

  test("are signed with its own key", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const foreign = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
    expect(await ask(good(), foreign)).toEqual([401, "A JSON web token could not be decoded"]);
  });

  test("cannot be replaced by a user's token", async () => {
    expect((await world.api("GET", "/app")).status).toBe(401);
  });
});

describe("an installation's token", () => {
  // Fault: C15
  test("is long and expires after an hour", async () => {
    const token = (await mint()).at("token");
    expect(token).toMatch(/^ghs_[\w.-]{480,560}$/);
    const read = () => world.api("GET", repository.path, undefined, token);
    expect((await read()).status).toBe(200);
    hoursOn = 1.01;
    const late = await read();
    hoursOn = 0;
    expect([late.status, late.at("message")]).toEqual([401, "Bad credentials"]);
  });

  test("may be minted with fewer permissions, which then apply", async () => {
    const narrow = await mint({
      permissions: { contents: "read" },
      repositories: [repository.fullName.split("/")[1]],
    });
    const token = narrow.at("token");
    const main = await repository.tip("main");
    const refused = await repository.call("POST", "/git/refs", { ref: "refs/heads/a", sha: main }, token);
    expect([refused.status, refused.at("message")]).toEqual([403, "Resource not accessible by integration"]);
    expect(refused.headers.get("x-accepted-github-permissions")).toBe("contents=write");
    expect((await world.api("GET", "/repos/acme/web", undefined, token)).status).toBe(404);
    const listed = await world.api("GET", "/installation/repositories", undefined, token);
    expect(listed.number("total_count")).toBe(1);
    expect((await mint({ permissions: { administration: "write" } })).status).toBe(422);
  });

  describe("without the permission for workflows", () => {
    const file = ".github/workflows/ci.yml";
    const message = `refusing to allow a GitHub App to create or update workflow \`${file}\` without \`workflows\` permission`;
    let token = "";
    let own: ForgeRepository;
    beforeEach(async () => {
      own = await makeRepository(world);
      token = (await mint({ permissions: { contents: "write", pull_requests: "write" } })).at("token");
    });
    const ask = (method: string, path: string, body: object) => own.call(method, path, body, token);

    test("creates a ref only if a branch has its workflow files", async () => {
      const sha = await own.commit("card", { [file]: "on: push\n" });
      expect((await ask("POST", "/git/refs", { ref: "refs/heads/same", sha })).status).toBe(201);
      await own.git("update-ref", "-d", "refs/heads/card");
      await own.git("update-ref", "-d", "refs/heads/same");
      const main = await own.tip("main");
      await ask("POST", "/git/refs", { ref: "refs/heads/other", sha: main });
      for (const [method, path, body] of [
        ["POST", "/git/refs", { ref: "refs/heads/new", sha }],
        ["POST", "/git/refs", { ref: "refs/tags/new", sha }],
        ["PATCH", "/git/refs/heads/other", { sha }],
      ] as const) {
        const refused = await ask(method, path, body);
        expect([refused.status, refused.at("message")]).toEqual([404, "Not Found"]);
        expect(refused.headers.get("x-accepted-github-permissions")).toBe("contents=write,workflows=write");
      }
      const variables = { id: (await own.call("GET", "")).at("node_id"), sha };
      const query = `mutation($id: ID!, $sha: GitObjectID!) {
        createRef(input: { repositoryId: $id, name: "refs/heads/new", oid: $sha }) { clientMutationId } }`;
      const refused = await world.graphql(query, variables, token);
      expect([refused.at("errors.0.type"), refused.at("errors.0.message")]).toEqual(["FORBIDDEN", message]);
    });

    test("merges no change of a workflow file", async () => {
      await own.commit("card", { [file]: "on: push\n" });
      const number = await own.open("card");
      const merges = [
        ["PUT", `/pulls/${number}/merge`, {}],
        ["POST", "/merges", { base: "main", head: "card" }],
      ] as const;
      for (const [method, path, body] of merges) {
        const refused = await ask(method, path, body);
        expect([refused.status, refused.at("message")]).toEqual([403, message]);
      }
      const started = await ask("PUT", `/pulls/${number}/merge-async`, {});
      await world.forge.waitUntilIdle();
      const uuid = started.at("details.uuid");
      const failed = await own.call("GET", `/pulls/${number}/merge-async/${uuid}`, undefined, token);
      expect([failed.at("status"), failed.at("details.message")]).toEqual(["failed", message]);
      expect((await own.call("PUT", `/pulls/${number}/merge`, {})).status).toBe(200);
      // Later changes beside it need no permission.
      await own.commit("beside", { "other.txt": "other\n" });
      expect((await ask("PUT", `/pulls/${await own.open("beside")}/merge`, {})).status).toBe(200);
    });
  });

  test("gives no access to another account's repositories", async () => {
    world.forge.createOrganization("other");
    const theirs = await world.forge.createRepository("other", "secret");
    const token = world.installationToken();
    for (const path of ["/repos/other/secret", `/repositories/${theirs.id}`, "/repos/other/secret/pulls"])
      expect((await world.api("GET", path, undefined, token)).status).toBe(404);
  });

  test("is refused while the installation is suspended, and no other is minted", async () => {
    const token = world.installationToken();
    await world.api("PUT", `/app/installations/${installation}/suspended`, undefined, world.appJwt());
    const words = [
      (await repository.call("GET", "", undefined, token)).at("message"),
      (await mint()).at("message"),
    ];
    await world.api("DELETE", `/app/installations/${installation}/suspended`, undefined, world.appJwt());
    expect(words).toEqual(["This installation has been suspended", "This installation has been suspended"]);
    expect((await repository.call("GET", "", undefined, token)).status).toBe(200);
  });
});

describe("users", () => {
  test("can send a token in several ways", async () => {
    const token = tokenOf(world, "grace");
    const basic = Buffer.from(`grace:${token}`).toString("base64");
    for (const authorization of [`token ${token}`, `Bearer ${token}`, `Basic ${basic}`]) {
      const response = await fetch(`${world.forge.rootUrl}/user`, { headers: { authorization } });
      expect(await response.json()).toMatchObject({ login: "grace", type: "User" });
    }
    const wrong = await world.api("GET", "/user", undefined, "ghp_wrong");
    expect([wrong.status, wrong.at("message")]).toEqual([401, "Bad credentials"]);
  });

  test("must administer a repository to change its settings", async () => {
    const response = await repository.call("PATCH", "", { description: "x" }, tokenOf(world, "grace"));
    expect([response.status, response.at("message")]).toEqual([403, "Must have admin rights to Repository."]);
  });

  test("do not see repositories without access", async () => {
    const mallory = world.forge.createUser("mallory", { organizations: {} });
    expect((await repository.call("GET", "", undefined, mallory.token)).status).toBe(404);
  });
});

describe("a repository", () => {
  test("that was renamed redirects and keeps its id in webhooks", async () => {
    const moved = await makeRepository(world);
    const { id } = world.forge.repository(moved.fullName);
    await moved.call("PATCH", "", { name: `${moved.fullName.split("/")[1]}-new` });
    const read = await moved.call("GET", "/branches/main?x=1");
    expect([read.status, read.headers.get("location")]).toEqual([
      301,
      `${world.forge.apiUrl}/repositories/${id}/branches/main?x=1`,
    ]);
    expect((await moved.call("POST", "/git/refs", {})).status).toBe(307);
    expect((await world.api("GET", `/repositories/${id}/branches/main`)).at("name")).toBe("main");
  });

  test("that was archived is read-only", async () => {
    const old = await makeRepository(world);
    const sha = await old.tip("main");
    await old.call("PATCH", "", { archived: true });
    const response = await old.call("POST", "/git/refs", { ref: "refs/heads/a", sha });
    expect([response.status, response.at("message")]).toEqual([
      403,
      "Repository was archived so is read-only.",
    ]);
    expect((await old.call("GET", "/git/ref/heads/main")).status).toBe(200);
  });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${world.forge.apiUrl}${path}`, {
    headers: { authorization: `Bearer ${tokenOf(world, "grace")}`, ...headers },
  });

describe("every response", () => {
  test("to a read has an ETag; a conditional read is free until something changes", async () => {
    const first = await get(repository.path);
    const etag = first.headers.get("etag") ?? "";
    const again = await get(repository.path, { "if-none-match": etag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(again.headers.get("x-ratelimit-used")).toBe(first.headers.get("x-ratelimit-used"));
    await repository.call("PATCH", "", { description: "Something else" });
    expect((await get(repository.path, { "if-none-match": etag })).status).toBe(200);
  });

  test("has the remaining calls until none are left in the hour", async () => {
    const { headers } = await get("/user");
    world.forge.settings.rateLimit = Number(headers.get("x-ratelimit-used"));
    const refused = await get("/user");
    const limits = await get("/rate_limit");
    world.forge.settings.rateLimit = 5_000;
    expect([refused.status, refused.headers.get("x-ratelimit-remaining")]).toEqual([403, "0"]);
    expect(await refused.json()).toMatchObject({
      message: expect.stringMatching(/^API rate limit exceeded for user ID \d+/),
    });
    expect(limits.status).toBe(200);
  });

  test("follows the requested API version; an unknown one is refused", async () => {
    await repository.commit("work", { "a.txt": "x\n" });
    const number = await repository.open("work");
    const pull = async (version: string) =>
      get(`${repository.path}/pulls/${number}`, { "x-github-api-version": version });
    expect(await (await pull("2022-11-28")).json()).toHaveProperty("merge_commit_sha");
    expect(await (await pull("2026-03-10")).json()).not.toHaveProperty("merge_commit_sha");
    expect((await pull("2020-01-01")).status).toBe(400);
  });

  test("is the same below /api/v3 and /, with a request id", async () => {
    const responses = await Promise.all(
      ["/api/v3", ""].map((prefix) => fetch(`${world.forge.rootUrl}${prefix}/users/ada`)),
    );
    expect(responses.map((each) => each.status)).toEqual([200, 200]);
    expect(responses[0]?.headers.get("x-github-request-id")).toMatch(/^[0-9A-F-]{36}$/);
  });

  test("to invalid JSON says so", async () => {
    const broken = await world.api("POST", `${repository.path}/pulls`, "{");
    expect([broken.status, broken.at("message")]).toEqual([400, "Problems parsing JSON"]);
  });
});
