import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Verdict } from "./flatness.ts";
import type { Progress } from "./load.ts";

export interface Soaked extends Progress {
  readonly minutes: number;
  readonly boards: number;
  readonly lives: number;
  readonly verdicts: readonly Verdict[];
  /** What did not come to rest in the end. */
  readonly troubles: readonly string[];
  /** Seconds of processor time the service took. */
  readonly processor: number;
}

const BEGIN = "<!-- soak -->";
const END = "<!-- /soak -->";
const file = fileURLToPath(new URL("../../docs/reliability.md", import.meta.url));

const short = (value: number): string => String(Math.round(value * 10) / 10);

/** What came of a soak, as Markdown. */
export function tableOf({ verdicts, troubles, ...soaked }: Soaked): string {
  const { minutes, boards, lives, through, calls, failed, faults, processor } = soaked;
  const line = ({ name, middle, last, allowed, isFlat }: Verdict): string =>
    `| ${name} | ${short(middle)} | ${short(last)} | ${short(allowed)} | ${isFlat ? "flat" : "**not flat**"} |`;
  return [
    `${minutes} minutes, ${boards} boards with ${lives} agents each: ${through} cards brought through, ${calls} calls (${failed} of them failed or were hung up on, and asked again), ${faults} troubles at the forge, ${short(processor)} s of processor time.`,
    "",
    "| What | Middle third | Last third | Allowed | |",
    "| --- | ---: | ---: | ---: | --- |",
    ...verdicts.map(line),
    ...troubles.map((trouble) => `\n**${trouble}**`),
  ].join("\n");
}

/** Puts what came of it into docs/reliability.md, in place of the one before. */
export async function writeReport(soaked: Soaked, note: string | undefined): Promise<void> {
  const text = await readFile(file, "utf8");
  const [before = ""] = text.split(BEGIN);
  const [, after = ""] = text.split(END);
  const head = `\`npm run soak\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores${note === undefined ? "" : `, ${note}`}.`;
  await writeFile(file, `${before}${BEGIN}\n\n${head} ${tableOf(soaked)}\n\n${END}${after}`);
}
