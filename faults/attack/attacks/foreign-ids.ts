import { idFieldsOf, OTHER_NAMES, valueAt, withValueAt } from "../../../test/support/input-fields.ts";
import { boardCalls } from "../../../test/support/routes.ts";
import { callSample, sampleOf, type Sample } from "../../../test/support/samples.ts";
import type { TestBoard } from "../../../test/support/world.ts";
import type { Scene } from "../scene.ts";

/** In every text of the other board: no response to us may contain it. */
export const CANARY = "canary-7c1f0d";
/** Above every card number of the attacking board. */
const FIRST_NUMBER = 500_000;
const ROLES = ["viewer", "member", "maintainer"] as const;

/** Calls every route with ids and card numbers of another organization's board. */
export async function foreignIds(scene: Scene): Promise<void> {
  const { world, random } = scene;
  const [ours, theirs] = world.boards;
  if (!ours || !theirs) throw new Error("the attack needs two boards");
  await plantCanaries(world.deps.db, theirs);
  const callers = await Promise.all(ROLES.map((role) => ours.as({ role })));
  const foreign = new Map<string, Sample>();
  for (const { name } of boardCalls) foreign.set(name, await sampleOf(name, theirs));
  const targets = boardCalls.flatMap(({ name }) => idFieldsOf(name).map((field) => ({ name, field })));
  for (let turn = 0; !scene.isOver(); turn++) {
    const { name, field } = targets[turn % targets.length] ?? { name: "", field: "" };
    const caller = random.pick(callers) ?? ours.api;
    const isHeader = field.startsWith("header.");
    const otherName = OTHER_NAMES[field];
    const foreignSample = foreign.get(name) ?? {};
    const value = isHeader ? theirs.workspaceId : valueAt(foreignSample, otherName ?? field);
    const own = await sampleOf(name, ours);
    const sample = otherName === undefined ? own : withValueAt(own, otherName, undefined);
    const { status, text } = isHeader
      ? await callSample(name, sample, caller, { headers: { "x-service-workspace": String(value) } })
      : await callSample(name, withValueAt(sample, field, value), caller);
    scene.tried();
    // 429 is how the service slows us down; 409 is the response to any claim id but the card's own.
    if (![400, 403, 404, 429].includes(status) && !(field === "body.claimId" && status === 409))
      scene.found(`${name} with a foreign ${field}: ${status} ${text}`);
    if (text.includes(CANARY)) scene.found(`${name} with a foreign ${field} shows the other board: ${text}`);
  }
}

async function plantCanaries(db: TestBoard["db"], { api, workspaceId }: TestBoard): Promise<void> {
  await db("workspaces").where({ id: workspaceId }).update({ next_card_number: FIRST_NUMBER });
  const { number } = await api.card({ title: `A card ${CANARY}`, repositoryIds: [] });
  await api.post(`/v1/cards/${number}/comments`, { body: `A comment ${CANARY}` });
  await api.post("/v1/docs", { title: `A page ${CANARY}`, body: CANARY });
  await api.post("/v1/labels", { name: CANARY });
  await api.post("/v1/features", { name: `A feature ${CANARY}` });
}
