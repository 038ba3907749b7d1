import { afterEach, describe, expect, it } from "@jest/globals";
import { inspectAllArmed } from "../../src/actions/moves/inspect-armed.ts";
import { setMembership } from "../../src/store/tenancy/memberships.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import type { Api } from "../support/api.ts";
import { putFlow, readFlow, setGates, withStage } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { itemsOf } from "../support/inbox.ts";
import { cardOf, newContributor } from "../support/gates/contributors.ts";
import { headOf } from "../support/stories/merged-card.ts";
import { pullOf, push, setPullState } from "../support/stories/repairing.ts";
import { cardWithCommit, deleteBranch, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { clientIdOf } from "../audit/support/read-audit.ts";
import {
  armed,
  armedCard,
  armedOf,
  expectDisarmed,
  expectLanded,
  mergedHeads,
  passCi,
  requireCi,
} from "./support/armed-cards.ts";

// Each test clones, pushes and merges.

const world = useWorld({ paceWrites: false });
let board: TestBoard;
afterEach(() => leaveConsistent(world, board));

/** What ends the waiting of a card's move: the reason, and how it is found without a webhook. */
interface Change {
  readonly board: TestBoard;
  readonly number: number;
  readonly branchName: string;
}
type Story = readonly [what: string, reason: string, change: (card: Change) => Promise<unknown>];

/** GitHub reports these by webhooks. */
const REPORTED: readonly Story[] = [
  ["somebody pushes", "head_moved", (card) => push(card.board, card.branchName)],
  [
    "somebody pushes by force",
    "head_moved",
    async ({ board, branchName }) => {
      const clone = await board.clone("grace");
      await clone.checkoutKnown(branchName);
      await clone.git("commit", "-q", "--amend", "-m", "Another commit");
      await clone.push("--force", "origin", `HEAD:${branchName}`);
      await clone.remove();
    },
  ],
  ["the branch is deleted", "branch_missing", (card) => deleteBranch(card.board, card.branchName)],
  [
    "the pull request is closed",
    "pull_request_closed",
    async ({ board, number }) => setPullState(board, await pullOf(board, number), "closed"),
  ],
  [
    "changes are requested",
    "changes_requested",
    async ({ board, number }) => {
      const path = `/repos/${board.owner}/web/pulls/${await pullOf(board, number)}/reviews`;
      return board.person("grace", "POST", path, { event: "REQUEST_CHANGES", body: "Not yet" });
    },
  ],
  [
    "the pull request gets another target",
    "pull_request_changed",
    async ({ board, number }) => {
      const sha = await headOf(board, "web", "main");
      await board.person("ada", "POST", `/repos/${board.owner}/web/git/refs`, {
        ref: "refs/heads/next",
        sha,
      });
      const path = `/repos/${board.owner}/web/pulls/${await pullOf(board, number)}`;
      return board.person("ada", "PATCH", path, { base: "next" });
    },
  ],
];

describe("an armed move is disarmed, and nothing is merged, when", () => {
  it.each(REPORTED)("%s", async (_, reason, change) => {
    board = await world.board();
    const card = await armedCard(board);
    await change({ ...card, board });
    await expectDisarmed(board, card.number, reason);
    await passCi(board, card.sha);
    await inspectAllArmed(world.service.deps);
    expect(await mergedHeads(board)).toEqual([]);
  });

  it("the target conflicts, which the periodic job finds", async () => {
    board = await world.board();
    const { number, branchName, armed: move } = await armedCard(board);
    // The head stays: only the target changes.
    await board.person("ada", "DELETE", `/repos/${board.owner}/web/branches/main/protection`);
    await writeFile(board, "web", "main", `${number}.txt`, "another text\n");
    expect(await headOf(board, "web", branchName)).toBe(move.heads[0]?.sha);
    await board.db("armed_moves").update({ inspected_at: board.db.raw("now() - interval '2 minutes'") });
    await inspectAllArmed(world.service.deps);
    await expectDisarmed(board, number, "conflicts");
  });
});

/** The user of an API key. */
const userOf = async (api: Api): Promise<string> => {
  const client_id = clientIdOf(api);
  return (await board.db<{ user_id: string; client_id: string }>("credentials").where({ client_id }).first())!
    .user_id;
};

type Loss = readonly [what: string, reason: string, lose: (api: Api, number: number) => Promise<unknown>];

/** Only Trunkline knows these. */
const LOST: readonly Loss[] = [
  ["its key is revoked", "not_permitted", (api) => revokeCredential(board.db, clientIdOf(api))],
  [
    "its key expires",
    "not_permitted",
    (api) =>
      board
        .db("credentials")
        .where({ client_id: clientIdOf(api) })
        .update({ expires_at: new Date(0) }),
  ],
  [
    "its key loses the scope to write",
    "not_permitted",
    (api) =>
      board
        .db("credentials")
        .where({ client_id: clientIdOf(api) })
        .update({ scopes: ["read"] }),
  ],
  [
    "its role is lowered",
    "not_permitted",
    async (api) => {
      const membership = { workspaceId: board.workspaceId, userId: await userOf(api) };
      await setMembership(board.db, { ...membership, role: "viewer" });
    },
  ],
  [
    "its membership is removed",
    "not_permitted",
    async (api) => {
      const user_id = await userOf(api);
      await board.db("memberships").where({ user_id, workspace_id: board.workspaceId }).delete();
    },
  ],
  ["the stage needs a higher role", "not_permitted", async () => needRole("maintainer")],
  ["only people may enter the stage", "human_only", async () => setGates(board, "Done", { humanOnly: true })],
  [
    "it expires",
    "expired",
    () => board.db("armed_moves").update({ expires_at: board.db.raw("now() - interval '1 second'") }),
  ],
  [
    "the stage merges into another branch",
    "flow_changed",
    async () => {
      const rule = { type: "merge", into: "release" };
      const changed = await putFlow(board, withStage(await readFlow(board), "Done", { rule }));
      expect(changed.status).toBe(200);
    },
  ],
];

async function needRole(minRole: string): Promise<void> {
  const changed = await putFlow(board, withStage(await readFlow(board), "Done", { minRole }));
  expect(changed.status).toBe(200);
}

describe("an armed move is disarmed by its next inspection when", () => {
  const begin = async () => {
    board = await world.board();
    await requireCi(board);
    const card = await cardWithCommit(board);
    const api = await board.as({ role: "member" });
    await armed(board, card.number, {}, api);
    return { ...card, api };
  };

  it.each(LOST)("%s: found when the last check passes", async (_, reason, lose) => {
    const { number, sha, api } = await begin();
    await lose(api, number);
    await passCi(board, sha);
    await expectDisarmed(board, number, reason);
  });

  it.each(LOST)("%s: found by the periodic job", async (_, reason, lose) => {
    const { number, api } = await begin();
    await lose(api, number);
    await inspectAllArmed(world.service.deps);
    await expectDisarmed(board, number, reason);
  });

  it("a second person is needed, and the caller's owner has pushed", async () => {
    board = await world.board();
    await requireCi(board);
    const ann = newContributor(world, board, "ann");
    const { number } = await cardOf(world, board, { pusher: ann });
    await armed(board, number, {}, await board.as({ owner: ann.login }));
    await setGates(board, "Done", { secondPerson: true });
    await expectDisarmed(board, number, "needs_second_person");
  });
});

describe("a caller ends the waiting", () => {
  it("by DELETE, which needs no decision by anybody else", async () => {
    board = await world.board();
    const { number, sha } = await armedCard(board);
    const member = await board.as({ role: "member" });
    expect((await member.delete(`/v1/cards/${number}/armed`)).status).toBe(204);
    await expectDisarmed(board, number, "cancelled", { isAnnounced: false });
    const again = await member.delete(`/v1/cards/${number}/armed`);
    expect(again).toMatchObject({ status: 404, body: { message: `No move of card ${number} is armed.` } });
    await passCi(board, sha);
    await inspectAllArmed(world.service.deps);
    expect(await mergedHeads(board)).toEqual([]);
  });

  it("by moving the card elsewhere", async () => {
    board = await world.board();
    const { number } = await armedCard(board);
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
    const { data } = await board.api.eventWhen(number, ({ kind }) => kind === "disarmed");
    expect(data["reason"]).toBe("moved");
    expect(await armedOf(board.api, number)).toBeUndefined();
    expect(await itemsOf(board.api, "move_disarmed")).toEqual([]);
  });

  it("by an ordinary move into the same stage, also if GitHub refuses it", async () => {
    board = await world.board();
    const { number } = await armedCard(board);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    await expectDisarmed(board, number, "moved", { isAnnounced: false });
  });

  it("not by changing its place in the column", async () => {
    board = await world.board();
    const { number, sha } = await armedCard(board);
    expect((await board.api.move(number, board.stages["In review"])).status).toBe(200);
    await passCi(board, sha);
    await expectLanded(board, number, sha);
  });

  it("by linking another repository", async () => {
    board = await world.board({ repositories: ["web", "api"] });
    const { number } = await armedCard(board);
    const repositoryIds = Object.values(board.repositories);
    expect((await board.api.patch(`/v1/cards/${number}`, { repositoryIds })).status).toBe(200);
    await expectDisarmed(board, number, "repositories_changed");
  });

  it("by unlinking a repository, and a link in the database is not enough to fire", async () => {
    board = await world.board({ repositories: ["web", "api"] });
    await requireCi(board);
    const { number, sha } = await cardWithCommit(board);
    await armed(board, number);
    const { id: card_id } = await board.api.readCard(number);
    const link = { card_id, repository_id: board.repositories["api"], project_id: board.projectId };
    await board.db("card_repositories").insert(link);
    await passCi(board, sha);
    await expectDisarmed(board, number, "repositories_changed");
  });

  it("by deleting the card, whose inbox has nothing about it", async () => {
    board = await world.board();
    const { number, sha } = await armedCard(board);
    expect((await board.api.delete(`/v1/cards/${number}`)).status).toBe(204);
    expect(await board.db("operations").where({ workspace_id: board.workspaceId, state: "waiting" })).toEqual(
      [],
    );
    await passCi(board, sha);
    await inspectAllArmed(world.service.deps);
    expect(await mergedHeads(board)).toEqual([]);
    expect(await itemsOf(board.api, "move_disarmed")).toEqual([]);
  });

  it("by arming it for another user, which replaces it", async () => {
    board = await world.board();
    const { number, armed: first } = await armedCard(board);
    const other = await board.as({ role: "member" });
    const second = await armed(board, number, {}, other);
    expect(second.id).not.toBe(first.id);
    const kinds = (await board.api.timeline(number)).filter(({ kind }) => kind.endsWith("armed"));
    expect(kinds.map(({ kind, data }) => [kind, data["reason"] ?? null])).toEqual([
      ["armed", null],
      ["disarmed", "replaced"],
      ["armed", null],
    ]);
    expect(await itemsOf(board.api, "move_disarmed")).toEqual([]);
  });

  it("by arming it again after a push, which removes the item of the inbox", async () => {
    board = await world.board();
    const { number, branchName } = await armedCard(board);
    const sha = await push(board, branchName);
    await expectDisarmed(board, number, "head_moved");
    expect((await armed(board, number)).heads).toEqual([{ fullName: `${board.owner}/web`, sha }]);
    expect(await itemsOf(board.api, "move_disarmed")).toEqual([]);
  });
});
