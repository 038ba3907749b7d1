import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { blocksOf, textsOf } from "../test/support/markdown.ts";

/** The commands of `docs/operating.md` that the scenarios run. */
export interface Guide {
  /** Creates the role and the database. */
  readonly install: string;
  /** Copies the primary to a standby. */
  readonly copy: string;
  /** Lets commits wait for the standby. */
  readonly waitForStandby: string;
  readonly promote: string;
  /** Empties the data directory of the old primary. */
  readonly empty: string;
  readonly dump: string;
  readonly restore: string;
  /** Skips the numbers that were used after the backup. */
  readonly skipNumbers: string;
  /** Compares with GitHub and checks the result. */
  readonly compare: string;
}

export async function readGuide(): Promise<Guide> {
  const text = await readFile(join(import.meta.dirname, "../docs/operating.md"), "utf8");
  const block = (section: string, kind: string, containing: string): string => {
    const found = textsOf(blocksOf(text, section), kind).find((each) => each.includes(containing));
    if (found === undefined)
      throw new Error(`docs/operating.md, ${section}, lacks a block with ${containing}`);
    return found;
  };
  return {
    install: block("Install", "sql", "create database"),
    copy: block("High availability", "sh", "pg_basebackup"),
    waitForStandby: block("High availability", "sql", "synchronous_standby_names"),
    promote: block("High availability", "sh", "pg_ctl promote"),
    empty: block("High availability", "sh", "find "),
    dump: block("Back up and restore", "sh", "pg_dump"),
    restore: block("Back up and restore", "sh", "pg_restore"),
    skipNumbers: block("Back up and restore", "sql", "update feeds"),
    compare: block("Back up and restore", "sh", "trunkline repair"),
  };
}
