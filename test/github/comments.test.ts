import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type GitHubDouble, openGitHubDouble, WEB } from "../support/forge/github-double.ts";

const COMMENTS = "/repositories/42/issues/5/comments";
const COMMENT = "/repositories/42/issues/comments/77";
const WAIT_MS = 5_000;
const MARK = "<!-- mark -->";
const BOT = 900;
const first = {
  number: 5,
  body: `${MARK}\n\nHello`,
  mark: MARK,
  firstAttemptAt: "2026-11-20T11:59:58.700Z",
  isRetry: false,
  mayWrite: true,
};
const again = { ...first, isRetry: true };
const notSeen = { ok: true, value: { commentId: null } };
const done = { ok: true, value: { commentId: 77 } };
const ours = { id: 77, body: first.body, user: { id: BOT } };

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

/** The App's own account is read once. */
function identified() {
  github.on("GET", "/app", 200, { slug: "trunkline" });
  github.on("GET", "/app/installations", 200, [{ id: 7, account: { id: 1, login: "acme" } }]);
  github.on("GET", "/users/trunkline%5Bbot%5D", 200, { id: BOT, login: "trunkline[bot]" });
}

describe("writing a comment", () => {
  test("takes one call", async () => {
    github.on("POST", COMMENTS, 201, { id: 77 });
    expect(await github.forge.comment(WEB, first, WAIT_MS)).toEqual(done);
    expect(github.requests.map(({ method, body }) => [method, body])).toEqual([
      ["POST", { body: first.body }],
    ]);
  });

  test.each([
    [403, "Unable to create comment because issue is locked."],
    [404, "Not Found"],
    [410, "Issues has been disabled in this repository."],
  ])("that GitHub refuses with %d is refused with its message after one call", async (status, message) => {
    github.on("POST", COMMENTS, status, { message });
    expect(await github.forge.comment(WEB, first, WAIT_MS)).toMatchObject({
      ok: false,
      refusal: { message },
    });
  });

  test("first searches comments written since shortly before the first attempt", async () => {
    identified();
    github.on("GET", COMMENTS, 200, [ours]);
    expect(await github.forge.comment(WEB, again, WAIT_MS)).toEqual(done);
    const [listing] = github.sent("GET", COMMENTS);
    expect(listing?.query).toEqual({ since: "2026-11-20T11:49:58Z", per_page: "100", page: "1" });
    expect(github.sent("POST", COMMENTS)).toEqual([]);
  });

  test("updates the comment of an earlier attempt", async () => {
    identified();
    github.on("GET", COMMENTS, 200, [{ ...ours, body: `${MARK}\n\nHelo` }]);
    github.on("PATCH", COMMENT, 200, { id: 77 });
    expect(await github.forge.comment(WEB, again, WAIT_MS)).toEqual(done);
    expect(github.sent("PATCH", COMMENT)).toMatchObject([{ body: { body: first.body } }]);
  });

  test("ignores comments of others and reads all pages", async () => {
    identified();
    const others = Array.from({ length: 100 }, (_, id) => ({ id, body: "Hi", user: { id: BOT } }));
    github.on("GET", COMMENTS, 200, others);
    github.on("GET", COMMENTS, 200, [
      { id: 1, body: first.body, user: { id: 10 } },
      { id: 2, body: first.body, user: null },
      { id: 3, body: `Look: ${first.body}`, user: { id: BOT } },
      { id: 4, body: null, user: { id: BOT } },
    ]);
    github.on("POST", COMMENTS, 201, { id: 77 });
    expect(await github.forge.comment(WEB, again, WAIT_MS)).toEqual(done);
    expect(github.sent("GET", COMMENTS).map(({ query }) => query["page"])).toEqual(["1", "2"]);
  });

  test("with a lost response is searched and not repeated", async () => {
    github.on("POST", COMMENTS, 502, "<html></html>");
    identified();
    github.on("GET", COMMENTS, 200, [ours]);
    expect(await github.forge.comment(WEB, first, WAIT_MS)).toEqual(done);
    // The time of the attempt by the database's clock, whatever the process's clock is.
    expect(github.sent("GET", COMMENTS)).toMatchObject([{ query: { since: "2026-11-20T11:49:58Z" } }]);
  });

  test("with a lost response is not repeated while reads may lag", async () => {
    github.cut("POST", COMMENTS);
    identified();
    github.on("GET", COMMENTS, 200, []);
    expect(await github.forge.comment(WEB, first, WAIT_MS)).toEqual(notSeen);
  });

  test("with a lost response and a failed search may have had its effect", async () => {
    github.on("POST", COMMENTS, 502, "<html></html>");
    identified();
    github.on("GET", COMMENTS, 403, { message: "This installation has been suspended" });
    expect(await github.forge.comment(WEB, first, WAIT_MS)).toEqual(notSeen);
  });

  test("is only searched while reads may lag", async () => {
    identified();
    github.on("GET", COMMENTS, 200, []);
    expect(await github.forge.comment(WEB, { ...again, mayWrite: false }, WAIT_MS)).toEqual(notSeen);
    github.on("GET", COMMENTS, 200, [ours]);
    expect(await github.forge.comment(WEB, { ...again, mayWrite: false }, WAIT_MS)).toEqual(done);
  });

  test.each([[{}], [{ id: "77" }], ["<html></html>"]])(
    "with the response %j is not a success",
    async (body) => {
      github.on("POST", COMMENTS, 201, body);
      identified();
      github.on("GET", COMMENTS, 200, [ours]);
      expect(await github.forge.comment(WEB, first, WAIT_MS)).toEqual(done);
    },
  );

  test("stops after its timeout with an unknown outcome", async () => {
    github.late("POST", COMMENTS, 3_000, 201, { id: 77 });
    expect(await github.forge.comment(WEB, first, 300)).toEqual(notSeen);
    github.requests.length = 0;
  });

  test("is refused for a suspended installation with GitHub's message", async () => {
    const message = "This installation has been suspended";
    github.on("POST", COMMENTS, 403, { message });
    expect(await github.forge.comment(WEB, first, WAIT_MS)).toEqual({
      ok: false,
      refusal: { reason: "not_permitted", message, details: { connection: "refused" } },
    });
  });
});

describe("editing a comment", () => {
  test("takes one call, and can be repeated without a search", async () => {
    github.on("PATCH", COMMENT, 502, "");
    github.on("PATCH", COMMENT, 200, { id: 77 });
    expect(await github.forge.editComment(WEB, 77, "Hello", WAIT_MS)).toEqual(done);
    expect(github.requests.map(({ body }) => body)).toEqual([{ body: "Hello" }, { body: "Hello" }]);
  });

  test("that was deleted is refused", async () => {
    github.on("PATCH", COMMENT, 404, { message: "Not Found" });
    expect(await github.forge.editComment(WEB, 77, "Hello", WAIT_MS)).toEqual({
      ok: false,
      refusal: { reason: "not_permitted", message: "Not Found" },
    });
  });
});
