// Runs the checks of `npm run check` one after the other and prints a line for each. The output of a step is shown only when
// the step fails, cut to a part of a screen: the command in its line prints all of it. Exits with 1 when a step failed.
import { spawnSync } from "node:child_process";

const MAX_LINES = 20;

/** `runs`, where it is set, is the same command with shorter output: a line for each lint error, failed tests only. */
const STEPS = [
  { name: "types", command: "npm run types" },
  { name: "lint", command: "npm run lint", runs: "npm run lint -- --format=unix" },
  { name: "format", command: "npm run format:check", fix: "npm run format" },
  { name: "tests", command: "npm test", runs: "npm test -- --reporters=summary" },
];

function run({ name, command, runs = command, fix }) {
  const begun = performance.now();
  const { status, stdout, stderr, error } = spawnSync(runs.replace("npm ", "npm --silent "), {
    shell: true,
    encoding: "utf8",
    maxBuffer: Infinity,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
  });
  const isOk = status === 0;
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  console.log(
    `${isOk ? "ok  " : "FAIL"}  ${name.padEnd(6)}  ${seconds.padStart(6)} s  ${command}${isOk || !fix ? "" : ` (fix: ${fix})`}`,
  );
  if (isOk) return true;
  const lines = `${stdout}\n${stderr}${error?.message ?? ""}`
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("npm warn "));
  for (const line of lines.slice(0, MAX_LINES)) console.log(`      ${line}`);
  if (lines.length > MAX_LINES) console.log(`      … ${lines.length - MAX_LINES} more lines: ${command}`);
  return false;
}

const failed = STEPS.filter((step) => !run(step)).map(({ name }) => name);
console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
