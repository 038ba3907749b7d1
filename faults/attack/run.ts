/**
 * Attacks the compiled service for a while: first the attacks that measure something, one after the other, then
 * the others at the same time. Each finishes what it has begun, so a short run takes longer. Exits 1 on a finding.
 *
 *     npm run attack -- [--seconds N] [--seed N] [--only PATTERN]
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { shipService } from "../../test/support/processes/shipped-service.ts";
import { createRandom } from "../seeded-random.ts";
import { startSoakWorld } from "../soak/world.ts";
import { badInput } from "./attacks/bad-input.ts";
import { busyKeys } from "./attacks/busy-keys.ts";
import { chosenValues } from "./attacks/chosen-values.ts";
import { busyRepositories } from "./attacks/busy-repositories.ts";
import { costlySearches } from "./attacks/costly-searches.ts";
import { eventStreams } from "./attacks/event-streams.ts";
import { floods } from "./attacks/floods.ts";
import { foreignIds } from "./attacks/foreign-ids.ts";
import { DISK_FULL_LOGGED, fullDisk } from "./attacks/full-disk.ts";
import { heavyBodies } from "./attacks/heavy-bodies.ts";
import { hostileTexts } from "./attacks/hostile-texts.ts";
import { hostileTools } from "./attacks/hostile-tools.ts";
import { readingViewer } from "./attacks/reading-viewer.ts";
import { removedMembers } from "./attacks/removed-members.ts";
import { repositoriesChangeHands } from "./attacks/repositories-change-hands.ts";
import { revocation } from "./attacks/revocation.ts";
import { slowClients } from "./attacks/slow-clients.ts";
import { unknownSenders } from "./attacks/unknown-senders.ts";
import { slowReceivers } from "./attacks/slow-receivers.ts";
import type { Attack, Scene } from "./scene.ts";

/** Measure times, memory or rows, so each runs alone, before the others change the boards. */
const ALONE: Readonly<Record<string, Attack>> = {
  "removed members": removedMembers,
  "busy repositories": busyRepositories,
  "slow receivers": slowReceivers,
  "a reading viewer": readingViewer,
  "hostile texts": hostileTexts,
  "heavy bodies": heavyBodies,
  "costly searches": costlySearches,
  "unknown senders": unknownSenders,
  "busy keys": busyKeys,
};
const TOGETHER: Readonly<Record<string, Attack>> = {
  "foreign ids": foreignIds,
  "bad input": badInput,
  "tools of MCP": hostileTools,
  "repositories that change boards": repositoriesChangeHands,
  floods,
  "slow clients": slowClients,
  revocation,
  "event streams": eventStreams,
  "chosen values": chosenValues,
  "full disk": fullDisk,
};

const { values } = parseArgs({
  options: { seconds: { type: "string" }, seed: { type: "string" }, only: { type: "string" } },
});
const seconds = Number(values.seconds ?? 600);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const chosenOf = (attacks: Readonly<Record<string, Attack>>) =>
  Object.entries(attacks).filter(([name]) => new RegExp(values.only ?? "").test(name));
const [alone, together] = [chosenOf(ALONE), chosenOf(TOGETHER)];
if (alone.length + together.length === 0) throw new Error(`No attack matches ${values.only}.`);
/** Those that run together have half of the time. */
const togetherMs = (seconds * 1_000) / (alone.length > 0 ? 2 : 1);
const aloneMs = (seconds * 1_000 - (together.length > 0 ? togetherMs : 0)) / alone.length;

const shipped = await shipService();
const folder = await mkdtemp(join(tmpdir(), "trunkline-attack-"));
const world = await startSoakWorld({ folder, root: shipped.dir, boards: 4, leak: null });
const findings = new Map<string, Set<string>>();
const names = [...alone, ...together].map(([name]) => name);
console.log(`seed ${seed}: ${seconds} s of ${names.join(", ")}`);
for (const [name, attack] of alone) await run(name, attack, aloneMs);
await Promise.all(together.map(([name, attack]) => run(name, attack, togetherMs)));
for (const line of await failuresInLog()) report("service log", line);
await world.stop();
await shipped.remove();
const count = [...findings.values()].reduce((sum, { size }) => sum + size, 0);
console.log(count === 0 ? "no finding" : `${count} findings; the service's log: ${folder}`);
if (count === 0) await rm(folder, { recursive: true, force: true });
process.exit(count === 0 ? 0 : 1);

async function run(name: string, attack: Attack, ms: number): Promise<void> {
  let attempts = 0;
  const end = performance.now() + ms;
  const scene: Scene = {
    world,
    random: createRandom(seed).for(name),
    // Each attack makes at least one attempt.
    isOver: () => attempts > 0 && performance.now() > end,
    tried: () => void attempts++,
    found: (finding) => report(name, finding),
  };
  try {
    await attack(scene);
  } catch (error) {
    report(name, `the attack could not go on: ${error instanceof Error ? error.stack : String(error)}`);
  }
  if (attempts === 0) report(name, "no attempt was made");
  console.log(`${name}: ${attempts} attempts, ${findings.get(name)?.size ?? 0} findings`);
}

function report(name: string, finding: string): void {
  const known = findings.get(name) ?? new Set();
  findings.set(name, known);
  // Ids and keys differ from attempt to attempt; the same finding is reported once.
  const shape = finding.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, "#").slice(0, 200);
  if (known.has(shape)) return;
  known.add(shape);
  console.log(`FINDING ${name}: ${finding.slice(0, 600)}`);
}

/** Lines of the service's log at level error or above: a person would have to act. */
async function failuresInLog(): Promise<string[]> {
  const text = await readFile(join(folder, "service.log"), "utf8");
  const lines = text.split("\n").filter((line) => /^\{"level":[56]0/.test(line));
  return lines.filter((line) => !line.includes(DISK_FULL_LOGGED));
}
