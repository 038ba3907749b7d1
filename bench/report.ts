import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

/** What came of one workload: medians over the rounds. */
export interface Row {
  readonly name: string;
  readonly connections: number;
  /** Calls a second. */
  readonly service: number;
  readonly floor: number;
  readonly ratio: number;
  readonly goal: number;
  /** Milliseconds, of the service. */
  readonly p50: number;
  readonly p99: number;
  /** The most that p99 ÷ p50 may be; null where nothing is asked of it. */
  readonly spread: number | null;
}

export const isMissed = ({ ratio, goal, p50, p99, spread }: Row): boolean =>
  ratio < goal || (spread !== null && p99 > spread * p50);

const BEGIN = "<!-- measured -->";
const END = "<!-- /measured -->";
const file = fileURLToPath(new URL("README.md", import.meta.url));

/** Puts the table into bench/README.md, in place of the one before. */
export async function writeReport(rows: readonly Row[]): Promise<void> {
  const text = await readFile(file, "utf8");
  const [before = ""] = text.split(BEGIN);
  const [, after = ""] = text.split(END);
  const line = (row: Row): string => {
    const { name, connections, service, floor, ratio, goal, p50, p99, spread } = row;
    const latency = `${p50} / ${p99}${spread === null ? "" : ` (goal: at most ${spread} times)`}`;
    return `| ${name} | ${connections} | ${service.toFixed(0)} | ${floor.toFixed(0)} | ${ratio.toFixed(2)} | ${goal} | ${isMissed(row) ? "**missed**" : "met"} | ${latency} |`;
  };
  const table = [
    `\`npm run bench\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores.`,
    "",
    "| What | Connections | Service, calls/s | Floor, calls/s | Ratio | Goal | | p50 / p99, ms |",
    "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |",
    ...rows.map(line),
  ].join("\n");
  await writeFile(file, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
}
