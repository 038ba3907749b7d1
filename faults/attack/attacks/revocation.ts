import { setTimeout as sleep } from "node:timers/promises";
import { issueCredential } from "../../../src/actions/credentials/credentials.ts";
import { revokeCredential } from "../../../src/store/tenancy/credentials.ts";
import { makeApi, type Api } from "../../../test/support/api.ts";
import { cardInReview } from "../../../test/support/stories/merged-card.ts";
import type { TestBoard } from "../../../test/support/world.ts";
import type { Scene } from "../scene.ts";

const CARDS = 4;
/** What was under way when the credential was revoked may still end. */
const GRACE_MS = 5_000;

/** Revokes a credential at a random moment while a promotion it asked for, and moves of its own, are running. */
export async function revocation(scene: Scene): Promise<void> {
  const { world, random } = scene;
  const board = world.boards.at(2);
  if (!board) throw new Error("the attack needs a third board");
  for (let turn = 1; !scene.isOver(); turn++) {
    const numbers: number[] = [];
    for (let card = 0; card < CARDS; card++) {
      const files = { web: { [`revocation-${turn}-${card}.txt`]: `${turn}\n` } };
      numbers.push(await cardInReview(world, board, files, `Revocation ${turn} ${card}`));
    }
    const releaseId = await releaseWith(board, numbers, turn);
    const { api, clientId } = await memberOf(scene, board);
    const promotion = api
      .post(`/v1/releases/${releaseId}/promote`, { statusId: board.stages.Done, taskNumbers: numbers })
      .catch(() => undefined);
    await sleep(random.between(50, 1_500));
    await revokeCredential(world.deps.db, clientId);
    await sleep(GRACE_MS);
    const atRevocation = await doneAmong(board, numbers);
    await promotion;
    await sleep(GRACE_MS);
    scene.tried();
    const later = await doneAmong(board, numbers);
    if (later > atRevocation)
      scene.found(`${later - atRevocation} cards were merged more than ${GRACE_MS} ms after the revocation`);
    const { status } = await api.get("/v1/me");
    // Another attack uses up the invalid keys of this address.
    if (status !== 401 && status !== 429) scene.found(`a revoked credential was answered ${status}`);
    await board.api.delete(`/v1/releases/${releaseId}`);
  }
}

async function doneAmong(board: TestBoard, numbers: readonly number[]): Promise<number> {
  const cards = await Promise.all(numbers.map((number) => board.api.readCard(number)));
  return cards.filter(({ statusId }) => statusId === board.stages.Done).length;
}

async function releaseWith(board: TestBoard, taskNumbers: readonly number[], turn: number): Promise<string> {
  const { api, projectId } = board;
  const made = await api.post<{ id: string }>(`/v1/releases?projectId=${projectId}`, {
    name: `Revocation ${turn}`,
  });
  const added = await api.put(`/v1/releases/${made.body.id}/cards`, { taskNumbers });
  if (added.status >= 300) throw new Error(`the release has no cards: ${added.text}`);
  return made.body.id;
}

async function memberOf(
  { world }: Scene,
  board: TestBoard,
): Promise<{ readonly api: Api; readonly clientId: string }> {
  const { apiKey, clientId } = await issueCredential(world.deps, {
    name: "soon revoked",
    boards: [{ workspaceId: board.workspaceId, role: "member" }],
    scopes: ["read", "write"],
    expiresAt: null,
  });
  return { api: makeApi(board.api.baseUrl, apiKey), clientId };
}
