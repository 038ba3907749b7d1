import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ForgeUnavailable } from "../../src/forge/values.ts";
import { type GitHubDouble, openGitHubDouble, OTHER_SHA, SHA, WEB } from "../support/forge/github-double.ts";

const REFS = "/repositories/42/git/refs";
const REF = "/repositories/42/git/ref/heads/card%2F7-login";
const BRANCH = "card/7-login";
const exists = { message: "Reference already exists", documentation_url: "x", status: "422" };

function ref(sha: string, name = BRANCH) {
  return { ref: `refs/heads/${name}`, node_id: "x", url: "x", object: { type: "commit", sha, url: "x" } };
}

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

describe("creating a branch", () => {
  test("takes one call", async () => {
    github.on("POST", REFS, 201, ref(SHA));
    expect(await github.forge.createBranch(WEB, BRANCH, SHA)).toEqual({ ok: true, value: { created: true } });
    expect(github.requests).toHaveLength(1);
    expect(github.requests[0]).toMatchObject({
      body: { ref: `refs/heads/${BRANCH}`, sha: SHA },
      headers: { authorization: "token ghs_test.1", "x-github-api-version": "2022-11-28" },
    });
  });

  test("that exists at the same commit succeeds", async () => {
    github.on("POST", REFS, 422, exists);
    github.on("GET", REF, 200, ref(SHA));
    expect(await github.forge.createBranch(WEB, BRANCH, SHA)).toEqual({
      ok: true,
      value: { created: false },
    });
  });

  // Fault: D7
  test("that exists at another commit reports it and changes nothing", async () => {
    github.on("POST", REFS, 422, exists);
    github.on("GET", REF, 200, ref(OTHER_SHA));
    const made = await github.forge.createBranch(WEB, BRANCH, SHA);
    expect(made).toEqual({ ok: true, value: { taken: OTHER_SHA } });
    expect(github.sent("POST", "/git/refs")).toHaveLength(1);
  });

  test("is refused with GitHub's message", async () => {
    const message =
      "Repository rule violations found\n\nCannot create ref due to creations being restricted.";
    github.on("POST", REFS, 422, { message });
    expect(await github.forge.createBranch(WEB, BRANCH, SHA)).toEqual({
      ok: false,
      refusal: { reason: "protected", message },
    });
  });

  test.each([500, 502, 503, 504])("finds the effect of a call that returned %i", async (status) => {
    github.on("POST", REFS, status, { message: "Server Error" });
    github.on("GET", REF, 200, ref(SHA));
    expect(await github.forge.createBranch(WEB, BRANCH, SHA)).toEqual({
      ok: true,
      value: { created: false },
    });
    expect(github.sent("POST", "/git/refs")).toHaveLength(1);
  });

  test("is repeated only after a read that found nothing", async () => {
    github.on("POST", REFS, 502, "<html>Bad gateway</html>");
    github.on("GET", REF, 404, { message: "Not Found" });
    github.on("POST", REFS, 201, ref(SHA));
    expect(await github.forge.createBranch(WEB, BRANCH, SHA)).toEqual({ ok: true, value: { created: true } });
    expect(github.requests.map(({ method }) => method)).toEqual(["POST", "GET", "POST"]);
  });

  // Fault: C1 GitHub returns 5xx without an effect => repeated; then 503
  test("is unavailable if GitHub keeps failing", async () => {
    for (let tries = 0; tries < 3; tries++) {
      github.on("POST", REFS, 503, { message: "Service unavailable" });
      github.on("GET", REF, 404, { message: "Not Found" });
    }
    await expect(github.forge.createBranch(WEB, BRANCH, SHA)).rejects.toThrow(ForgeUnavailable);
  });

  // Fault: C2 GitHub's response is lost => its work is found before any repetition
  test("finds the effect after a lost connection", async () => {
    github.cut("POST", REFS);
    github.on("GET", REF, 200, ref(SHA));
    expect(await github.forge.createBranch(WEB, BRANCH, SHA)).toEqual({
      ok: true,
      value: { created: false },
    });
  });

  // Fault: C14 A success response is malformed => handled as a lost response
  test("does not accept a response of another shape as success", async () => {
    github.on("POST", REFS, 201, { ok: "yes" });
    github.on("GET", REF, 200, ref(SHA));
    expect(await github.forge.createBranch(WEB, BRANCH, SHA)).toEqual({
      ok: true,
      value: { created: false },
    });
  });

  test("that exists but is not readable yet neither succeeds nor is refused", async () => {
    for (let tries = 0; tries < 3; tries++) {
      github.on("POST", REFS, 422, exists);
      github.on("GET", REF, 404, { message: "Not Found" });
      github.on("GET", REF, 404, { message: "Not Found" });
    }
    await expect(github.forge.createBranch(WEB, BRANCH, SHA)).rejects.toThrow("does not show it yet");
  });
});

describe("reading a branch", () => {
  test("gives its commit", async () => {
    github.on("GET", REF, 200, ref(SHA));
    expect(await github.forge.branchHead(WEB, BRANCH)).toBe(SHA);
  });

  test.each([404, 409])("gives null for %i", async (status) => {
    github.on("GET", REF, status, { message: status === 409 ? "Git Repository is empty." : "Not Found" });
    expect(await github.forge.branchHead(WEB, BRANCH)).toBeNull();
  });

  test("is repeated after an error, with short delays", async () => {
    github.on("GET", REF, 502, {});
    github.on("GET", REF, 500, {});
    github.on("GET", REF, 200, ref(SHA));
    expect(await github.forge.branchHead(WEB, BRANCH)).toBe(SHA);
    expect(github.clock.slept).toEqual([300, 1_000]);
  });

  test("stops after three errors, with the time for a retry", async () => {
    for (let tries = 0; tries < 3; tries++) github.on("GET", REF, 502, {});
    const failure = await github.forge.branchHead(WEB, BRANCH).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ForgeUnavailable);
    expect(failure).toMatchObject({ retryAfter: 5, cause: { facts: { status: 502, method: "GET" } } });
  });
});
