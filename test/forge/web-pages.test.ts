import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { makeRepository, type ForgeRepository } from "./forge-repository.ts";

const HOSTILE = `</title></pre><script>alert(1)</script><img src=x onerror="alert(1)">`;

let world: TestForge;
let repository: ForgeRepository;
let number: number;

beforeAll(async () => {
  world = await startTestForge();
});
afterAll(() => world.stop());
beforeEach(async () => {
  repository = await makeRepository(world, { files: { "docs/app.txt": "one\n" } });
  await repository.commit("card/1-x#y", { "docs/app.txt": "two\n" }, `Change it\n\n${HOSTILE}`);
  number = await repository.open("card/1-x#y", { title: "Say hello", body: "**Why**" });
});

/** Loads a page without credentials. */
async function load(path: string, method = "GET") {
  const url = path.startsWith("http") ? path : `${world.forge.rootUrl}${path}`;
  const response = await fetch(url, { method, redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The values of the fields with this name, at any depth. */
function valuesOf(body: unknown, field: string): string[] {
  if (typeof body !== "object" || body === null) return [];
  return Object.entries(body).flatMap(([name, value]) =>
    name === field && typeof value === "string" ? [value] : valuesOf(value, field),
  );
}

describe("a page of the forge", () => {
  test("shows a pull request with its state, branches, author, text and checks", async () => {
    const sha = await repository.tip("card%2F1-x%23y");
    await repository.call("POST", `/statuses/${sha}`, { state: "failure", context: "ci/build" });
    const { status, headers, text } = await load(`/${repository.fullName}/pull/${number}`);
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(text).toContain("This is Trunkline's sandbox in place of GitHub.");
    for (const shown of ["<h1>Say hello #1</h1>", "open", "ada", "**Why**", "ci/build: failure"]) {
      expect(text).toContain(shown);
    }
    expect(text).toContain(`href="/${repository.fullName}/tree/card/1-x%23y"`);
    expect(text).toContain(`href="/${repository.fullName}"`);
  });

  test("lists the repositories to browsers, where the API has its root", async () => {
    const at = async (accept: string) =>
      (await fetch(`${world.forge.rootUrl}/`, { headers: { accept } })).text();
    expect(await at("text/html,application/xhtml+xml,*/*;q=0.8")).toContain(`href="/${repository.fullName}"`);
    for (const accept of ["application/vnd.github+json", "*/*"])
      expect(await at(accept)).toContain('"current_user_url"');
  });

  test("shows a repository with its branches and open pull requests only", async () => {
    const page = () => load(`/${repository.fullName}`).then(({ text }) => text);
    for (const shown of [">main</a>", ">card/1-x#y</a>", "#1 Say hello"]) {
      expect(await page()).toContain(shown);
    }
    await repository.call("PATCH", `/pulls/${number}`, { state: "closed" });
    expect(await page()).toContain("No open pull requests.");
  });

  test("shows a commit with its message and files, and a branch with its files", async () => {
    const sha = await repository.tip("card%2F1-x%23y");
    const { text } = await load(`/${repository.fullName}/commit/${sha}`);
    for (const shown of ["Change it", "docs/app.txt", "-one\n+two"]) expect(text).toContain(shown);
    const branch = await load(`/${repository.fullName}/tree/card/1-x%23y/docs`);
    expect(branch.text).toContain(`href="/${repository.fullName}/blob/card/1-x%23y/docs/app.txt"`);
    const file = await load(`/${repository.fullName}/blob/card/1-x%23y/docs/app.txt`);
    expect(file.text).toContain("<pre>two\n</pre>");
  });

  test("keeps hostile text inert and allows no script", async () => {
    await repository.call("PATCH", `/pulls/${number}`, { title: HOSTILE, body: HOSTILE });
    await repository.call("POST", `/issues/${number}/comments`, { body: HOSTILE });
    const sha = await repository.tip("card%2F1-x%23y");
    for (const path of [`/pull/${number}`, "", `/commit/${sha}`]) {
      const { text, headers } = await load(`/${repository.fullName}${path}`);
      expect(text).toContain("&lt;script&gt;");
      expect(text).not.toMatch(/<(?:script|img)\b/);
      const policy = headers.get("content-security-policy");
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action/,
      );
    }
  });

  test("has no token and no email address of an account", async () => {
    const { text } = await load("/ada");
    expect(text).toContain("<h1>ada</h1>");
    for (const { token } of world.forge.users) expect(text).not.toContain(token);
    expect(text).not.toContain("@");
  });

  test("is missing if a path looks like a header of git", async () => {
    for (let time = 1; time <= 2; time++) {
      const { status } = await load(`/${repository.fullName}/blob/main/x%20blob%205`);
      expect(status).toBe(404);
    }
    const { text } = await load(`/${repository.fullName}/blob/card/1-x%23y/docs/app.txt`);
    expect(text).toContain("<pre>two\n</pre>");
  });

  test("is missing with a page, and unknown accounts and API paths keep their JSON", async () => {
    for (const path of ["/pull/99", "/commit/abc", "/tree/none", "/runs/1", "/wiki", "/compare/a...b"]) {
      const { status, text } = await load(`/${repository.fullName}${path}`);
      expect([path, status, text.includes("Not found")]).toEqual([path, 404, true]);
    }
    for (const path of ["/nobody/here", `/repos/${repository.fullName}`, "/%zz"]) {
      const { status, headers } = await load(path);
      expect([path, status, headers.get("content-type")]).toEqual([
        path,
        404,
        "application/json; charset=utf-8",
      ]);
    }
    expect((await load(`/${repository.fullName}`, "POST")).status).toBe(404);
  });

  test("moves with a renamed repository", async () => {
    const name = `${repository.fullName.split("/")[1]}-new`;
    await repository.call("PATCH", "", { name });
    const { status, headers } = await load(`/${repository.fullName}/pull/${number}`);
    expect([status, headers.get("location")]).toEqual([301, `/acme/${name}/pull/${number}`]);
  });
});

test("every address of a page in responses of the API leads to a page", async () => {
  const sha = await repository.tip("card%2F1-x%23y");
  await repository.call("POST", "/releases", { tag_name: "v1", name: "One", target_commitish: "main" });
  await repository.call("POST", `/issues/${number}/comments`, { body: "Hello" });
  await repository.call("POST", `/pulls/${number}/reviews`, { event: "COMMENT", body: "Fine" });
  const token = world.installationToken();
  await repository.call("POST", "/check-runs", { name: "ci", head_sha: sha, status: "queued" }, token);
  const reads = [
    "",
    "/pulls",
    `/pulls/${number}`,
    `/pulls/${number}/reviews`,
    `/issues/${number}/comments`,
    `/commits/${sha}`,
    `/commits/${sha}/check-runs`,
    "/compare/main...card%2F1-x%23y",
    "/branches/card%2F1-x%23y",
    "/contents/docs",
    "/contents/docs/app.txt",
    "/releases",
  ];
  const bodies: unknown[] = [];
  for (const read of reads) {
    const { status, body } = await repository.call("GET", read);
    expect([read, status]).toEqual([read, 200]);
    bodies.push(body);
  }
  bodies.push((await world.api("GET", "/app/installations", undefined, world.appJwt())).body);
  const [owner, name] = repository.fullName.split("/");
  const { body } = await world.graphql(
    `query ($owner: String!, $name: String!, $number: Int!) {
      repository(owner: $owner, name: $name) {
        url
        pullRequest(number: $number) {
          url
          author { url }
          commits(first: 5) { nodes { url commit { url commitUrl } } }
          comments(first: 5) { nodes { url } }
        }
      }
    }`,
    { owner, name, number },
  );
  const addresses = new Set([
    ...valuesOf(bodies, "html_url"),
    ...valuesOf(bodies, "html"),
    ...valuesOf(body, "url"),
    ...valuesOf(body, "commitUrl"),
  ]);
  expect(addresses.size).toBeGreaterThan(12);
  const missing: string[] = [];
  for (const address of addresses) {
    const { status, headers } = await load(address);
    if (status !== 200 || !headers.get("content-type")?.startsWith("text/html")) missing.push(address);
  }
  expect(missing).toEqual([]);
});
