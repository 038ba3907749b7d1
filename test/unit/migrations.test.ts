import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const FOLDER = join(import.meta.dirname, "../../migrations");
const names = readdirSync(FOLDER).toSorted();
/** Before there was anything to upgrade from. */
const FIRST_TO_BE_SAFE = "0013";

/** What the version before, which still runs beside this one, would fall over. */
const UNSAFE: Readonly<Record<string, RegExp>> = {
  "takes away a table or column": /\bdrop (table|column)\b/i,
  "gives something another name": /\brename\b/i,
  "asks of old writes what they do not give":
    /\bset not null\b|\badd column (?!.*\bdefault\b)[^,;]*\bnot null\b/i,
  "makes a column something else": /\balter column \w+ (set data )?type\b/i,
  "checks what old writes may not hold to": /\badd (constraint|check|unique|primary)\b/i,
};

const unsafe = (sql: string): string[] => {
  const statements = sql.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").split(";");
  return Object.entries(UNSAFE).flatMap(([what, pattern]) =>
    statements.some((statement) => pattern.test(statement)) ? [what] : [],
  );
};

describe("migrations", () => {
  it("have a number of their own each, which says their order", () => {
    expect(names.filter((name) => !/^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toEqual([]);
    expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(names.length);
  });

  it.each(names.filter((name) => name > FIRST_TO_BE_SAFE))(
    "let the version before go on working: %s",
    (name) => {
      expect(unsafe(readFileSync(join(FOLDER, name), "utf8"))).toEqual([]);
    },
  );

  it.each([
    "alter table cards drop column title;",
    "alter table cards rename column title to name;",
    "alter table cards alter column title set not null;",
    "alter table cards\n  add column x text not null;",
    "alter table cards alter column title type integer;",
    "alter table cards add constraint short check (length(title) < 9);",
  ])("are looked at for it: %s", (sql) => {
    expect(unsafe(sql)).toHaveLength(1);
  });

  it("may add", () => {
    const sql =
      "alter table cards add column x text not null default '', add column y text; create index on cards (x);";
    expect(unsafe(`${sql}\n-- drop column said in words`)).toEqual([]);
  });
});
