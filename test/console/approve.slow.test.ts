import { describe, expect, it } from "@jest/globals";
import { openToken, tokenKeyOf } from "../../src/actions/sessions/sealed-token.ts";
import { firstRow, rows } from "../../src/store/db/connect.ts";
import { eventually } from "../support/api.ts";
import { cardWithAgent, openAgentPull } from "../support/agents.ts";
import { clearedWhen, itemWhen } from "../support/inbox.ts";
import { sessionIdOf, signedIn } from "../support/console/people.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

/** A card in review with a proposal of an agent, and a member. */
async function proposed({ draft = false } = {}) {
  const { board, card, copilot } = await cardWithAgent(world);
  const offer = await openAgentPull(world, board, copilot, card, { draft });
  const item = await itemWhen(board.api, "proposal_waiting");
  const person = await signedIn(world, [board]);
  const headSha = String(item.data["headSha"]);
  const approve = (body: object = { headSha }, key?: string) =>
    person.browser.write(
      "POST",
      `/console/v1/cards/${card.number}/approve`,
      body,
      key === undefined ? {} : { "idempotency-key": key },
    );
  return { board, card, copilot, offer, person, headSha, approve };
}

const pullOf = async ({ board, number }: { board: TestBoard; number: number }) =>
  (await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/${number}`)).body as {
    state: string;
    merged: boolean;
    draft: boolean;
    merged_by: { login: string } | null;
  };
const reviewsOf = async ({ board, number }: { board: TestBoard; number: number }) => {
  const { body } = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/${number}/reviews`);
  return (body as unknown as { user: { login: string }; state: string; commit_id: string }[]).map(
    ({ user, state, commit_id: sha }) => ({ login: user.login, state, sha }),
  );
};

const tokenOf = async (
  board: TestBoard,
  sessionId: string,
): Promise<{ sealed: Buffer; accessToken: string }> => {
  const found = await firstRow<{ id: string; sealed: Buffer }>(
    board.db,
    "select c.id, s.forge_token as sealed from sessions s join credentials c on c.id = s.credential_id where c.client_id = :sessionId",
    { sessionId },
  );
  if (!found) throw new Error("there is no such session");
  const token = openToken(found.sealed, tokenKeyOf(world.forge.app.clientSecret), found.id);
  return { sealed: found.sealed, accessToken: token?.accessToken ?? "" };
};

describe("an approval", () => {
  it.each([
    ["a proposal", false],
    ["a draft", true],
  ])("of %s is the person's on the forge: a review of the head, and the merge", async (_, draft) => {
    const { board, card, offer, person, headSha, approve } = await proposed({ draft });
    const response = await approve();
    expect([response.status, response.body]).toEqual([
      200,
      { fullName: `${board.owner}/web`, prNumber: offer.number, headSha, state: "merged" },
    ]);
    const about = { board, number: offer.number };
    expect(await reviewsOf(about)).toEqual([{ login: person.login, state: "APPROVED", sha: headSha }]);
    expect(await pullOf(about)).toMatchObject({ merged: true, merged_by: { login: person.login } });
    await clearedWhen(board.api, "proposal_waiting");
    expect(await board.api.eventWhen(card.number, ({ kind }) => kind === "proposal_accepted")).toMatchObject({
      actor: { user: { kind: "human" }, login: person.login },
    });
  });

  it("that is repeated returns the stored response, and with a new key does nothing more", async () => {
    const { board, offer, headSha, approve } = await proposed();
    const first = await approve({ headSha }, "the-same-approval");
    const replayed = await approve({ headSha }, "the-same-approval");
    const again = await approve();
    expect([replayed.text, again.text]).toEqual([first.text, first.text]);
    expect(replayed.headers.get("idempotent-replay")).toBe("true");
    expect(await reviewsOf({ board, number: offer.number })).toHaveLength(1);
  });

  it.each([
    ["the response to the review is lost", "POST", "/repositories/*/pulls/*/reviews", "after"],
    ["GitHub does not merge", "PUT", "/repositories/*/pulls/*/merge*", "before"],
  ] as const)("has one review if %s and the call is repeated", async (_, method, path, effect) => {
    const { board, offer, headSha, approve } = await proposed();
    const { faults } = world.forge.control;
    const rule = faults.add({ match: { method, path }, fault: { kind: "response", status: 502, effect } });
    const key = `lost-${offer.branch}-${method}`.replaceAll("/", "-");
    await approve({ headSha }, key);
    faults.remove(rule);
    const again = await approve({ headSha }, key);
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('"merged"')]);
    expect(await reviewsOf({ board, number: offer.number })).toHaveLength(1);
  });

  it("is refused with GitHub's words, and can be repeated", async () => {
    const { board, offer, card, approve } = await proposed();
    await world.forge.commit(`${board.owner}/web`, card.branchName, {
      [`change-${offer.branch.split("-")[1]}.txt`]: "another\n",
    });
    await world.forge.waitUntilIdle();
    const refused = await approve();
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        message: expect.stringMatching(/not mergeable|conflict/i),
        reason: "conflicts",
        repository: `${board.owner}/web`,
      },
    ]);
    expect((await pullOf({ board, number: offer.number })).merged).toBe(false);
  });

  it("of another head than the proposal has is refused without a review", async () => {
    const { board, offer, copilot, headSha, approve } = await proposed();
    const unknown = await approve({ headSha: "a".repeat(40) });
    expect([unknown.status, unknown.body]).toMatchObject([
      409,
      { message: expect.stringContaining("new commits") },
    ]);
    const { webhooks } = world.forge.control;
    const rule = webhooks.add({ match: { event: "pull_request" }, fault: { kind: "hold" } });
    const file = { message: "Later", branch: offer.branch, content: "bGF0ZXIK" };
    expect((await copilot.call(board, "PUT", "/contents/later.txt", file)).status).toBe(201);
    const unseen = await approve({ headSha });
    expect([unseen.status, unseen.body]).toMatchObject([409, { reason: "head_moved" }]);
    webhooks.remove(rule);
    await webhooks.release();
    const seen = await eventually(
      () => approve({ headSha }),
      ({ text }) => text.includes("new commits"),
    );
    expect(seen.status).toBe(409);
    expect(await reviewsOf({ board, number: offer.number })).toEqual([]);
  });

  it("names the repository if two could be meant, and no other", async () => {
    const { headSha, approve } = await proposed();
    const other = await approve({ headSha, fullName: "acme/other" });
    expect(other.status).toBe(409);
    expect((await approve({ headSha: "not a sha" })).status).toBe(400);
    expect((await approve({})).status).toBe(400);
  });

  it("is refused by the forge if the person may not write there", async () => {
    const { board, person, offer, approve } = await proposed();
    const organization = world.forge.context.state.accounts.inGroup(board.owner)[0];
    const { [person.forgeId]: _, ...members } = organization?.members ?? {};
    world.forge.context.state.accounts.update(organization?.id ?? 0, { members });
    const refused = await approve();
    expect([refused.status, refused.body]).toMatchObject([409, { reason: "not_permitted" }]);
    expect((await pullOf({ board, number: offer.number })).merged).toBe(false);
  });
});

describe("an approval asks to sign in again", () => {
  it.each<[string, (board: TestBoard, sessionId: string, login: string) => Promise<unknown>]>([
    [
      "if the forge refuses the token",
      async (_board, _session, login) => {
        const { accounts, tokens } = world.forge.context.state;
        const [account] = accounts.inGroup(login);
        for (const { id, accountId, isOfApp } of tokens.all())
          if (isOfApp && accountId === account?.id) tokens.delete(id);
      },
    ],
    ["if the token is gone", (board) => board.db("sessions").update({ forge_token: null })],
    [
      "if the token was encrypted with another client secret",
      (board) => board.db("sessions").update({ forge_token: Buffer.alloc(80, 7) }),
    ],
    [
      "if the token of another session was planted",
      async (board, session) => {
        const other = await signedIn(world, [board]);
        const { sealed } = await tokenOf(board, sessionIdOf(other.browser));
        await board.db.raw(
          "update sessions set forge_token = ? where credential_id = (select id from credentials where client_id = ?)",
          [sealed, session],
        );
      },
    ],
  ])("%s", async (_, spoil) => {
    const { board, card, offer, person, approve } = await proposed();
    await spoil(board, sessionIdOf(person.browser), person.login);
    const refused = await approve();
    expect([refused.status, refused.body]).toMatchObject([
      403,
      {
        code: "reauthenticate",
        signInUrl: `/console/sign-in?returnTo=%2Fb%2F${board.workspaceId}%2Fcards%2F${card.number}`,
      },
    ]);
    expect(await reviewsOf({ board, number: offer.number })).toEqual([]);
    await person.browser.signIn(person.login, (refused.body as { signInUrl: string }).signInUrl);
    expect((await approve()).status).toBe(200);
  });
});

it("the person's token is in no log, response, audit row or table, and encrypted with the session", async () => {
  const { board, person, approve } = await proposed();
  const { sealed, accessToken } = await tokenOf(board, sessionIdOf(person.browser));
  expect(accessToken).toMatch(/^ghu_/);
  const response = await approve();
  expect(response.status).toBe(200);
  const audit = (await board.api.get("/v1/audit")).text;
  expect(audit).toMatch(/"method" ?: ?"POST \/pulls\/\{pull_number\}\/reviews"/);
  const tables = await rows<{ name: string }>(
    board.db,
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  );
  const dump: string[] = [];
  for (const { name } of tables)
    dump.push(
      ...(await rows<{ text: string }>(board.db, `select cast(t as text) as text from ${name} t`)).map(
        ({ text }) => text,
      ),
    );
  for (const place of [world.logged(), response.text, audit, dump.join("\n"), sealed.toString("latin1")]) {
    expect(place).not.toContain(accessToken);
    expect(place).not.toContain(Buffer.from(accessToken).toString("hex"));
  }
  const refreshTokens = [...world.forge.context.refreshTokens.keys()];
  expect(dump.join("\n")).not.toContain(refreshTokens.at(-1));
});
