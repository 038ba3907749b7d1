/**
 * Runs the reference setup of `deploy/ha` on this machine: HAProxy, two processes of the compiled
 * service, and a replicated PostgreSQL, under load. Exits 1 if a scenario fails, and 2 if programs
 * are missing and cannot be installed.
 *
 *     npm run ha -- [--short] [--only PATTERN] [--times N] [--keep]
 */
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { describeError } from "../src/errors.ts";
import { shipService } from "../test/support/processes/shipped-service.ts";
import { readGuide } from "./guide.ts";
import { MissingPrograms, requirePrograms } from "./setup/programs.ts";
import { failOver, failOverSilently } from "./scenarios/failover.ts";
import { usePooler } from "./scenarios/pooler.ts";
import { restoreBackup } from "./scenarios/restore.ts";
import { restartInTurn } from "./scenarios/rolling-restart.ts";
import { removeWorld, startHaWorld, type HaOptions, type HaWorld } from "./world.ts";

interface Scenario {
  readonly name: string;
  readonly isShort: boolean;
  readonly run: (world: HaWorld, say: (text: string) => void) => Promise<string[]>;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "failover", isShort: true, run: failOver },
  { name: "rolling restart", isShort: true, run: restartInTurn },
  { name: "silent primary", isShort: false, run: failOverSilently },
  { name: "pooler", isShort: false, run: usePooler },
  { name: "restore", isShort: false, run: restoreBackup },
];

const { values } = parseArgs({
  options: {
    short: { type: "boolean" },
    only: { type: "string" },
    times: { type: "string" },
    keep: { type: "boolean" },
  },
});

/** Runs a scenario in a new setup. Returns whether it passed. */
async function play({ name, run }: Scenario, options: HaOptions): Promise<boolean> {
  const startedAt = Date.now();
  const world = await startHaWorld(options);
  let troubles: string[];
  try {
    troubles = await run(world, (text) => console.log(`${name}: ${text}`)).catch((error: unknown) => [
      describeError(error),
    ]);
  } finally {
    await world.stop();
  }
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(0);
  console.log(`${name}: ${troubles.length === 0 ? "passed" : "FAILED"}, ${seconds} s`);
  for (const trouble of troubles.slice(0, 20)) console.log(`  ${trouble}`);
  if (troubles.length === 0 && values.keep !== true) await removeWorld(world);
  else console.log(`  record: ${world.folder}`);
  return troubles.length === 0;
}

async function playAll(): Promise<void> {
  const programs = await requirePrograms();
  const guide = await readGuide();
  const shipped = await shipService();
  const only = new RegExp(values.only ?? "");
  const chosen = SCENARIOS.filter(
    ({ name, isShort }) => only.test(name) && (isShort || values.short !== true),
  );
  const results: boolean[] = [];
  try {
    for (let time = 0; time < Number(values.times ?? 1); time++) {
      for (const scenario of chosen)
        results.push(await play(scenario, { programs, guide, root: shipped.dir }));
    }
  } finally {
    await shipped.remove();
  }
  const passed = results.filter(Boolean).length;
  const line = `${passed} passed, ${results.length - passed} failed\n`;
  process.stdout.write(line);
  if (process.env["CLOSING_LINES"]) appendFileSync(process.env["CLOSING_LINES"], line);
  // Also ends the load of a scenario that failed while it started.
  process.exit(passed === results.length && passed > 0 ? 0 : 1);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
try {
  await playAll();
} catch (error) {
  const isMissing = error instanceof MissingPrograms;
  console.error(isMissing ? error.message : describeError(error));
  // Also ends what a setup that failed has started.
  process.exit(isMissing ? 2 : 1);
}
