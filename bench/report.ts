import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { format } from "oxfmt";

export interface Goal {
  readonly sign: "≥" | "≤";
  readonly limit: number;
}

export const atLeast = (limit: number): Goal => ({ sign: "≥", limit });
export const atMost = (limit: number): Goal => ({ sign: "≤", limit });

/** The columns of the first table. */
const LOADS = ["1 connection", "16 connections", "16 boards"] as const;

export interface Measurement {
  readonly name: string;
  /** Absent if the value does not depend on it. */
  readonly load?: (typeof LOADS)[number];
  readonly value: number;
  readonly goal: Goal;
}

export const isMissed = ({ value, goal }: Measurement): boolean =>
  !(goal.sign === "≥" ? value >= goal.limit : value <= goal.limit);

/** Prints a measurement, with the figures it comes from, and returns it. */
export function report(measurement: Measurement, figures = ""): Measurement {
  const { name, load, value, goal } = measurement;
  const missed = isMissed(measurement) ? ", missed" : "";
  const suffix = load === undefined ? "" : `, ${load}`;
  console.log(`${name}${suffix}: ${short(value)} (${goal.sign} ${short(goal.limit)}${missed})${figures}`);
  return measurement;
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Three significant digits, or all digits before the point. */
export const short = (value: number): string =>
  value < 100 ? String(+value.toPrecision(3)) : value.toFixed(0);

const cell = (measurement: Measurement): string =>
  isMissed(measurement) ? `**${short(measurement.value)}**` : short(measurement.value);

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, at) => (at === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

/** One line for each name, with a column for each load. */
function loadTable(measurements: readonly Measurement[]): string {
  const names = [...new Set(measurements.map(({ name }) => name))];
  const rows = names.map((name) => {
    const named = measurements.filter((each) => each.name === name);
    const limits = named.map(({ goal }) => short(goal.limit));
    const isOne = new Set(limits).size === 1;
    const cells = LOADS.map((load) =>
      named
        .filter((each) => each.load === load)
        .map(cell)
        .join(),
    );
    return [name, `${named[0]?.goal.sign} ${isOne ? limits[0] : limits.join(", ")}`, ...cells];
  });
  return table(["Ratio", "Goal", ...LOADS], rows);
}

function singleTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map((each) => [
    each.name,
    `${each.goal.sign} ${short(each.goal.limit)}`,
    cell(each),
  ]);
  return table(["What", "Goal", "Measured"], rows);
}

const BEGIN = "<!-- measured -->";
const file = fileURLToPath(new URL("README.md", import.meta.url));

/** Replaces the results at the end of bench/README.md. */
export async function writeReport(measurements: readonly Measurement[]): Promise<void> {
  const [method = ""] = (await readFile(file, "utf8")).split(BEGIN);
  const missed = measurements.filter(isMissed).length;
  const results = [
    `\`npm run bench\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores: ${missed} of ${measurements.length} goals missed.`,
    loadTable(measurements.filter(({ load }) => load !== undefined)),
    singleTable(measurements.filter(({ load }) => load === undefined)),
  ];
  const { code } = await format(file, `${method}${BEGIN}\n\n${results.join("\n\n")}\n`);
  await writeFile(file, code);
}
