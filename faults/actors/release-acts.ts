import { ownText } from "./board-knowledge.ts";
import type { AgentPlace } from "./agent.ts";

/** Makes a release, or does something with one there is. */
export async function actOnRelease(place: AgentPlace): Promise<void> {
  const { caller, dice, own } = place;
  const id = dice.pick(own.releases.slice(-3));
  if (id === undefined || dice.chance(0.15)) return createRelease(place);
  const path = `/v1/releases/${id}`;
  const { stages, repositories } = own.board;
  switch (dice.weighted({ freeze: 3, unfreeze: 1, pick: 3, promote: 2, complete: 2 })) {
    case "freeze":
      await caller.write("POST", `${path}/freeze`);
      break;
    case "unfreeze":
      await caller.write("DELETE", `${path}/freeze`);
      break;
    case "pick":
      await caller.write("POST", `${path}/pick`, { taskNumber: dice.pick(own.cards) ?? 1 });
      break;
    case "promote":
      await caller.write("POST", `${path}/promote`, {
        statusId: dice.pick([stages["In progress"], stages["In review"], stages.Done]),
      });
      break;
    case "complete": {
      own.count += 1;
      const tagName = `v${own.count}`;
      const versions = Object.values(repositories).map((repositoryId) => ({ repositoryId, tagName }));
      await caller.write("POST", `${path}/complete`, { versions });
    }
  }
}

async function createRelease({ caller, dice, own }: AgentPlace): Promise<void> {
  const made = await caller.write("POST", "/v1/releases", { name: ownText(own, "release") });
  if (made.status !== 201) return;
  const { id } = made.body as { id: string };
  own.releases.push(id);
  const taskNumbers = own.cards.filter(() => dice.chance(0.4));
  await caller.write("PUT", `/v1/releases/${id}/cards`, { taskNumbers });
}
