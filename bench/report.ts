import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { format } from "oxfmt";

/** What came of one comparison: `ratio` is to be at least `goal`. */
export interface Row {
  readonly name: string;
  /** 0 where it is not about calls. */
  readonly connections: number;
  /** What was measured and what it was held against: calls a second, or what was used and the most that may be. */
  readonly service: number;
  readonly floor: number;
  readonly ratio: number;
  readonly goal: number;
}

export const isMissed = ({ ratio, goal }: Row): boolean => !(ratio >= goal);

/** Prints a row and gives it. */
export function told(row: Row): Row {
  const { name, connections, ratio, goal } = row;
  const of = connections === 0 ? "" : ` @${connections}`;
  const missed = isMissed(row) ? ", missed" : "";
  console.log(
    `${name}${of}: ${short(row.service)} / ${short(row.floor)} = ${ratio.toFixed(2)} (goal ${goal.toFixed(2)}${missed})`,
  );
  return row;
}

/** A limit as a row: the limit ÷ what is used, which is to be at least 1. */
export function limitRow(name: string, used: number, limit: number): Row {
  const ratio = used <= limit ? Math.min(limit / used, 99) : limit / used;
  return told({
    name,
    connections: 0,
    service: used,
    floor: limit,
    ratio: Number.isNaN(ratio) ? 1 : ratio,
    goal: 1,
  });
}

/** The middle one. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** The value that so large a part of the numbers is not above. */
export function quantile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

const short = (value: number): string => value.toFixed(value < 100 ? 1 : 0);

const BEGIN = "<!-- measured -->";
const END = "<!-- /measured -->";
const file = fileURLToPath(new URL("README.md", import.meta.url));

/** Puts the table into bench/README.md, in place of the one before. */
export async function writeReport(rows: readonly Row[]): Promise<void> {
  const text = await readFile(file, "utf8");
  const [before = ""] = text.split(BEGIN);
  const [, after = ""] = text.split(END);
  const line = (row: Row): string => {
    const { name, connections, service, floor, ratio, goal } = row;
    const of = connections === 0 ? "" : String(connections);
    return `| ${name} | ${of} | ${short(service)} | ${short(floor)} | ${ratio.toFixed(2)} | ${goal.toFixed(2)} | ${isMissed(row) ? "**missed**" : "met"} |`;
  };
  const missed = rows.filter(isMissed).length;
  const table = [
    `\`npm run bench\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores: ${missed} of ${rows.length} missed.`,
    "",
    "| What | Connections | Service | Floor or limit | Ratio | Goal | |",
    "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ...rows.map(line),
  ].join("\n");
  const { code } = await format(file, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
  await writeFile(file, code);
}
