/** What a caller learns about a GitHub that does not respond. */
import { afterEach, describe, expect, it } from "@jest/globals";
import type { Fault } from "../../sandbox/forge/control/faults.ts";
import { eventually } from "../support/api.ts";
import { brokenIn, brokenWhen } from "../support/forge/installations.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => world.forge.control.faults.clear());

type Unavailable = { readonly reason: string; readonly until: string } | null;

interface ListedRepository {
  readonly fullName: string;
  readonly health: { readonly unavailable: Unavailable };
}

describe.each<[string, Fault, RegExp]>([
  ["rate_limit", { kind: "rate-limit", limit: "primary", resetIn: 600 }, /^GitHub limits requests until 2/],
  ["unusable_response", { kind: "garble", as: "html" }, /^GitHub's response could not be used/],
  ["outage", { kind: "response", status: 503 }, /^GitHub could not be reached/],
])("a 503 due to %s", (reason, fault, message) => {
  it("is named in the response, in the health of the repositories and in the inbox, until it is over", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const listed = async () => (await board.api.get<ListedRepository[]>("/v1/repositories")).body;
    const shown = async () => (await listed()).find(({ fullName }) => fullName.endsWith("/web"))?.health;
    world.forge.webUi.setGranted(board.owner, [`${board.owner}/api`], false, `ada-${board.owner.slice(4)}`);
    const [item] = await brokenWhen(board, 1);
    expect(item).toMatchObject({ repository: `${board.owner}/api`, data: { unavailable: null } });
    expect((await shown())?.unavailable).toBeNull();
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["In progress"]);
    const { id: installationId } = world.forge.control
      .installations()
      .find(({ account }) => account === board.owner)!;
    world.forge.control.faults.add({ match: { path: "/graphql", installationId }, fault });
    expect(await board.api.move(number, board.stages["In review"])).toMatchObject({
      status: 503,
      body: { reason, message: expect.stringMatching(message), statusCode: 503 },
    });
    const unavailable = (await shown())?.unavailable;
    expect(unavailable).toMatchObject({ reason });
    expect(Date.parse(unavailable?.until ?? "")).toBeGreaterThan(Date.now());
    expect(await brokenIn(board)).toMatchObject([
      { id: item?.id, data: { broken: "not_granted", unavailable } },
    ]);
    world.forge.control.faults.clear();
    const end = async () => {
      await board
        .db("organizations")
        .where({ slug: board.owner })
        .update({ unavailable_until: board.db.fn.now() });
      await board.db("forge_limits").delete();
      return brokenIn(board);
    };
    // A job that called GitHub before may still store the limit.
    const [over] = await eventually(end, ([found]) => found?.data.unavailable === null);
    expect(over).toMatchObject({ id: item?.id });
    expect((await shown())?.unavailable).toBeNull();
  });
});
