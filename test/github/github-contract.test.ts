import { describe, expect, test } from "@jest/globals";
import { responseMismatches, operationOf, validateWebhook } from "../support/forge/github-contract.ts";

const ref = {
  ref: "refs/heads/card/7",
  node_id: "REF_1",
  url: "https://forge.test/api/v3/repos/acme/web/git/refs/heads/card/7",
  object: {
    type: "commit",
    sha: "a".repeat(40),
    url: "https://forge.test/api/v3/repos/acme/web/git/commits/a",
  },
};

describe("GitHub's API descriptions", () => {
  test("accept a response of GitHub, for both kinds of path", () => {
    expect(responseMismatches("GET", "/api/v3/repos/acme/web/git/ref/heads/card/7?x=1", 200, ref)).toEqual(
      [],
    );
    expect(responseMismatches("GET", "/repositories/12/git/ref/heads%2Fmain", 200, ref)).toEqual([]);
  });

  test("report missing and wrong fields", () => {
    const broken = { ...ref, node_id: 1, object: { type: "commit" } };
    expect(responseMismatches("GET", "/repos/acme/web/git/ref/heads/main", 200, broken)).toEqual([
      expect.stringContaining("/node_id must be string"),
      expect.stringContaining("/object must have required property 'sha'"),
      expect.stringContaining("/object must have required property 'url'"),
    ]);
  });

  test("reject an undescribed success and an unexpected body", () => {
    const path = "/repos/acme/web/git/refs/heads/main";
    expect(responseMismatches("DELETE", path, 200, {})).toEqual([
      expect.stringContaining("status 200 is not described"),
    ]);
    expect(responseMismatches("DELETE", path, 204, { ok: true })).toEqual(["status 204 has no body"]);
  });

  test("accept refusals that any operation may have", () => {
    const refusal = {
      message: "Bad credentials",
      documentation_url: "https://docs.github.com/rest",
      status: "401",
    };
    expect(responseMismatches("GET", "/repos/acme/web", 401, refusal)).toEqual([]);
  });

  test("reject a refusal with a status that is not described", () => {
    const refusal = { message: "Conflict", documentation_url: "https://docs.github.com/rest", status: "409" };
    expect(responseMismatches("GET", "/repos/acme/web", 409, refusal)).toEqual([
      expect.stringContaining("status 409 is not described"),
    ]);
  });

  test("have no other operations", () => {
    expect(responseMismatches("GET", "/gists", 200, [])).toEqual([
      expect.stringContaining("there is no operation"),
    ]);
    expect(operationOf("GET", "/repos/a/b/commits/main/check-runs")).toBe(
      "get /repos/{owner}/{repo}/commits/{ref}/check-runs",
    );
  });

  test("report missing fields of a webhook", () => {
    expect(() => validateWebhook("pull_request", "opened", { action: "opened" })).toThrow(
      /required property 'number'/,
    );
    expect(() => validateWebhook("pull_request", "exploded", {})).toThrow(/there is no webhook/);
  });
});
