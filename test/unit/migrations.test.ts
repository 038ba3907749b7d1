import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const FOLDER = join(import.meta.dirname, "../../migrations");
const names = readdirSync(FOLDER).toSorted();
/** Files after this one are checked as upgrades, although nothing is released yet. */
const LAST_UNCHECKED = "0009";

/** Statements that break the previous version, which runs during a migration. */
const UNSAFE: Readonly<Record<string, RegExp>> = {
  "drops a table or column": /\bdrop (table|column)\b/i,
  "renames something": /\brename\b/i,
  "requires a value that the previous version does not write":
    /\bset not null\b|\badd column (?!.*\bdefault\b)[^,;]*\bnot null\b/i,
  "changes the type of a column": /\balter column \w+ (set data )?type\b/i,
  "adds a constraint that the previous version may violate": /\badd (constraint|check|unique|primary)\b/i,
};

const unsafe = (sql: string): string[] => {
  const statements = sql.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").split(";");
  return Object.entries(UNSAFE).flatMap(([what, pattern]) =>
    statements.some((statement) => pattern.test(statement)) ? [what] : [],
  );
};

describe("migrations", () => {
  it("have unique numbers, which define their order", () => {
    expect(names.filter((name) => !/^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toEqual([]);
    expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(names.length);
  });

  // Fault: E11
  it("keep the previous version working", () => {
    const upgrades = names.filter((name) => name.slice(0, 4) > LAST_UNCHECKED);
    const broken = upgrades.flatMap((name) =>
      unsafe(readFileSync(join(FOLDER, name), "utf8")).map((what) => `${name} ${what}`),
    );
    expect(broken).toEqual([]);
  });

  it.each([
    "alter table cards drop column title;",
    "alter table cards rename column title to name;",
    "alter table cards alter column title set not null;",
    "alter table cards\n  add column x text not null;",
    "alter table cards alter column title type integer;",
    "alter table cards add constraint short check (length(title) < 9);",
  ])("are checked for: %s", (sql) => {
    expect(unsafe(sql)).toHaveLength(1);
  });

  it("may add columns and indexes", () => {
    const sql =
      "alter table cards add column x text not null default '', add column y text; create index on cards (x);";
    expect(unsafe(`${sql}\n-- drop column in a comment`)).toEqual([]);
  });
});
