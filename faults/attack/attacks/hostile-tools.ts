import { randomUUID } from "node:crypto";
import { tools } from "../../../src/http/mcp/tools.ts";
import { callTool } from "../../../test/support/mcp/client.ts";
import { sampleOf, type Sample } from "../../../test/support/samples.ts";
import type { Scene } from "../scene.ts";
import { STRANGE } from "./bad-input.ts";
import { CANARY } from "./foreign-ids.ts";

const argumentsOf = ({ path, query, body }: Sample): Record<string, unknown> => ({
  ...path,
  ...query,
  ...body,
});

/** Calls every tool with strange values, and with what belongs to another organization's board. */
export async function hostileTools(scene: Scene): Promise<void> {
  const { world, random } = scene;
  const [ours, theirs] = world.boards;
  if (!ours || !theirs) throw new Error("the attack needs two boards");
  const known = new Map<string, readonly [own: Record<string, unknown>, foreign: Record<string, unknown>]>();
  for (const { route } of tools) {
    known.set(route, [argumentsOf(await sampleOf(route, ours)), argumentsOf(await sampleOf(route, theirs))]);
  }
  while (!scene.isOver()) {
    const { name, route, input } = random.pick(tools) ?? tools[0]!;
    const [own, foreign] = known.get(route) ?? [{}, {}];
    const field = random.pick(Object.keys(input.shape)) ?? "number";
    const value = random.chance(0.3) ? foreign[field] : random.pick(STRANGE);
    const changed = {
      ...own,
      ...("requestId" in input.shape && { requestId: randomUUID() }),
      [field]: value,
    };
    const { status, body } = await callTool(ours.api, name, changed);
    const text = JSON.stringify(body);
    scene.tried();
    // A 503 names when to retry; anything else above 499 is a defect.
    if (status >= 500 && status !== 503)
      scene.found(`${name} with ${field} = ${JSON.stringify(value)?.slice(0, 80)}: ${status} ${text}`);
    if (text.includes(CANARY)) scene.found(`${name} with a foreign ${field} shows the other board: ${text}`);
  }
}
