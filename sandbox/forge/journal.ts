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

/** One line of the journal: a row as it is now, or the end of one. */
export type JournalEntry =
  | { readonly table: string; readonly row: { readonly id: number } }
  | { readonly table: string; readonly gone: number };

/**
 * An append-only file of saved rows. Each entry is handed to the kernel before `append` returns, so a killed process loses
 * nothing it has answered for; a power cut may.
 */
export interface Journal {
  append(entry: JournalEntry): void;
  /** Replaces the file by these entries: what is current, without its history. */
  compact(entries: Iterable<JournalEntry>): void;
  /** Whether most of the file is history. */
  isWorthCompacting(): boolean;
  close(): void;
}

/** Below this size history costs nothing. */
const MIN_COMPACT_BYTES = 32 * 1024 * 1024;

/** Reads what a journal holds; a last line torn by a crash is left out. */
export function readJournal(file: string): JournalEntry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  const entries: JournalEntry[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    try {
      entries.push(JSON.parse(line) as JournalEntry);
    } catch (cause) {
      if (index < lines.length - 1) throw new Error(`${file} is damaged at line ${index + 1}`, { cause });
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
