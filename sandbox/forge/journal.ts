import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";

/** One line of the journal: a saved row, or the id of a deleted one (`gone`). */
export type JournalEntry =
  | { readonly table: string; readonly row: { readonly id: number } }
  | { readonly table: string; readonly gone: number };

/** An append-only file of rows. `append` writes at once, so entries survive a killed process. */
export interface Journal {
  append(entry: JournalEntry): void;
  /** Replaces the file's content with the current entries. */
  compact(entries: Iterable<JournalEntry>): void;
  /** Whether the file is large and has doubled since it was compacted or opened. */
  isWorthCompacting(): boolean;
  close(): void;
}

const MIN_COMPACT_BYTES = 32 * 1024 * 1024;

/** Reads a journal; skips a last line that a crash left incomplete. */
export function readJournal(file: string): JournalEntry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  const entries: JournalEntry[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    try {
      entries.push(JSON.parse(line) as JournalEntry);
    } catch (cause) {
      if (index < lines.length - 1) throw new Error(`${file}:${index + 1} is not valid JSON`, { cause });
    }
  }
  return entries;
}

export function openJournal(file: string): Journal {
  let descriptor = openSync(file, "a", 0o600);
  let size = fstatSync(descriptor).size;
  let sizeWhenCompact = size;
  return {
    append(entry) {
      size += writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    },
    compact(entries) {
      const lines = [...entries].map((entry) => `${JSON.stringify(entry)}\n`);
      writeFileSync(`${file}.new`, lines.join(""), { mode: 0o600 });
      renameSync(`${file}.new`, file);
      closeSync(descriptor);
      descriptor = openSync(file, "a", 0o600);
      size = fstatSync(descriptor).size;
      sizeWhenCompact = size;
    },
    isWorthCompacting: () => size > MIN_COMPACT_BYTES && size > 2 * sizeWhenCompact,
    close() {
      closeSync(descriptor);
    },
  };
}
