import { describe, expect, it } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const SRC = resolve(import.meta.dirname, "../../src");

/** Who may import whom: a room may use its own and the rooms before it, and nothing after it. */
const ORDER = [
  "errors.ts",
  "new-id.ts",
  "metrics",
  "flow",
  "forge",
  "forge/github",
  "store",
  "actions",
  "http",
  "webhooks",
  "jobs",
  "app.ts",
  "service.ts",
  "config.ts",
  "log.ts",
  "sandbox",
  "cli",
  "main.ts",
];

/** Files that still keep state in their module. */
const WITH_STATE = [
  "actions/claim-move.ts",
  "store/ask.ts",
  "store/awake.ts",
  "store/column-counts.ts",
  "store/connect.ts",
  "store/pipeline.ts",
  "store/together.ts",
];

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), "utf8") }));

const rankOf = (file: string): number => {
  const room = ORDER.findLastIndex((name) => file === name || file.startsWith(`${name}/`));
  if (room < 0) throw new Error(`${file} stands in no room of the house`);
  return room;
};

const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");

const offenders = (pattern: RegExp, allowed: (file: string) => boolean): string[] =>
  files
    .filter(({ file, text }) => !allowed(file) && importsOf(text).some((name) => pattern.test(name)))
    .map(({ file }) => file);

describe("the rooms of the house", () => {
  it("only import what comes before them", () => {
    const upward = files.flatMap(({ file, text }) =>
      importsOf(text)
        .filter((name) => name.startsWith("."))
        .map((name) => relative(SRC, resolve(SRC, dirname(file), name)))
        .filter((target) => rankOf(target) > rankOf(file))
        .map((target) => `${file} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  it("keep GitHub's libraries in the adapter and in the sandbox's forge", () => {
    const isAllowed = (file: string): boolean =>
      file.startsWith("forge/github/") || file.startsWith("sandbox/forge/");
    expect(offenders(/^(probot|@octokit\/)/, isAllowed)).toEqual([]);
  });

  it("keep SQL in the store", () => {
    expect(offenders(/^(knex|pg|fractional-indexing)$/, (file) => file.startsWith("store/"))).toEqual([]);
  });

  it("keep the rules pure: no I/O, no clock, no library but the Markdown parser", () => {
    expect(offenders(/^(?!\.|markdown-it$)/, (file) => !file.startsWith("flow/"))).toEqual([]);
    const clocks = files.filter(
      ({ file, text }) => file.startsWith("flow/") && /Date\.now|new Date\(\)/.test(text),
    );
    expect(clocks).toEqual([]);
  });

  it("read the process only in main and the command line, and where the log is written to", () => {
    const readers = files
      .filter(
        ({ file, text }) =>
          /\bprocess\.(env|argv|cwd|exit|stdout|stderr|on|pid)\b/.test(text) &&
          !["main.ts", "log.ts"].includes(file),
      )
      .map(({ file }) => file)
      .filter((file) => !file.startsWith("cli/"));
    expect(readers).toEqual([]);
  });

  it("keep no state in modules: no variable, and no collection that is changed", () => {
    const stateOf = (text: string): string[] => [
      ...[...text.matchAll(/^(?:export )?let (\w+)/gm)].map(([, name = ""]) => name),
      ...[...text.matchAll(/^(?:export )?const (\w+).*= (?:new (?:Weak)?(?:Map|Set)\b|\[|\{\})/gm)]
        .map(([, name = ""]) => name)
        .filter((name) =>
          new RegExp(`\\b${name}(?:\\.(?:set|add|delete|clear|push|shift|splice)\\(|\\[.*\\] = )`).test(text),
        ),
    ];
    const found = files
      .filter(({ file }) => !file.startsWith("sandbox/") && !WITH_STATE.includes(file))
      .flatMap(({ file, text }) => stateOf(text).map((name) => `${file}: ${name}`));
    expect(found).toEqual([]);
  });
});
