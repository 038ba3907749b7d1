import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Verdict } from "./flatness.ts";
import type { Progress } from "./visitors.ts";

export interface SoakResult extends Progress {
  readonly minutes: number;
  readonly boards: number;
  readonly lives: number;
  readonly verdicts: readonly Verdict[];
  /** Unfinished work and other problems after the load. */
  readonly troubles: readonly string[];
  /** CPU time of the service, in seconds. */
  readonly processor: number;
}

const BEGIN = "<!-- soak -->";
const END = "<!-- /soak -->";
const file = fileURLToPath(new URL("../../docs/reliability.md", import.meta.url));

const short = (value: number): string => String(Math.round(value * 10) / 10);

/** The results of a soak test as Markdown. */
export function tableOf({ verdicts, troubles, ...soaked }: SoakResult): string {
  const { minutes, boards, lives, finishedCards, calls, failed, faults, processor } = soaked;
  const line = ({ name, middle, last, allowed, isFlat }: Verdict): string =>
    `| ${name} | ${short(middle)} | ${short(last)} | ${short(allowed)}${isFlat ? "" : ", **not flat**"} |`;
  return [
    `${minutes} minutes, ${boards} boards, each with ${lives} agents, a tool, a person and two readers: ${finishedCards} finished cards,`,
    `${calls} calls (${failed} failed or aborted, and repeated), ${faults} injected faults,`,
    `${short(processor)} s of CPU time.`,
    "",
    "| Value | Middle third | Last third | Allowed |",
    "| --- | ---: | ---: | ---: |",
    ...verdicts.map(line),
    ...troubles.map((trouble) => `\n**${trouble}**`),
  ].join("\n");
}

/** Replaces the results in docs/reliability.md. */
export async function writeReport(soaked: SoakResult, note: string | undefined): Promise<void> {
  const text = await readFile(file, "utf8");
  const [before = ""] = text.split(BEGIN);
  const [, after = ""] = text.split(END);
  const head = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores${note === undefined ? "" : `, ${note}`}.`;
  await writeFile(file, `${before}${BEGIN}\n\n${head}\n${tableOf(soaked)}\n\n${END}${after}`);
}
