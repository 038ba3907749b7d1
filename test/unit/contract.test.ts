import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const root = join(import.meta.dirname, "../..");
const rows = readFileSync(join(root, "docs/contract.md"), "utf8")
  .split("\n")
  .flatMap((line) => [...line.matchAll(/^\| (?!The contract|---)(.+?) +\| (.+?) +\|$/g)])
  .map(([, sentence = "", tests = ""]) => ({ sentence, tests: tests.split("<br>") }));

/** The test a cell names: its file below test/, in backticks, then its name. */
function isThere(cell: string): boolean {
  const [, file, name] = /^`([\w/.-]+)` (.+)$/.exec(cell.trim()) ?? [];
  const path = join(root, "test", `${file}.test.ts`);
  return existsSync(path) && readFileSync(path, "utf8").includes(`"${name}"`);
}

describe("the sentences of the contract", () => {
  it("are held by tests that exist", () => {
    expect(rows.length).toBeGreaterThan(90);
    // What fails here names a test that was renamed or removed: name the one that holds the sentence now in docs/contract.md.
    const lost = rows.flatMap(({ sentence, tests }) =>
      tests.filter((test) => !isThere(test)).map((test) => `${sentence}: ${test}`),
    );
    expect(lost).toEqual([]);
  });
});
