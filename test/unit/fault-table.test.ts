import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const root = join(import.meta.dirname, "../..");
/** What comes after the faults has tables of its own. */
const [text = ""] = readFileSync(join(root, "docs/reliability.md"), "utf8").split("\n## For long\n");

/** How many faults of each kind there are to answer for. */
const FAULTS = { A: 10, B: 12, C: 16, D: 15, E: 15 };
const INVARIANTS = 12;

const rows = [...text.matchAll(/^\| +(\w*) +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm)]
  .map(([, id = "", fault = "", outcome = "", tests = ""]) => ({ id, fault, outcome, tests }))
  .filter(({ fault }) => fault !== "Fault" && !fault.startsWith("---"));
const filesOf = (cell: string): string[] => [...cell.matchAll(/`([\w/.-]+)`/g)].map(([, file = ""]) => file);

describe("the faults in docs/reliability.md", () => {
  it("are all there, each once and in their order", () => {
    const wanted = Object.entries(FAULTS).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, at) => `${kind}${at + 1}`),
    );
    expect(rows.map(({ id }) => id).filter((id) => /^[A-E]\d/.test(id))).toEqual(wanted);
  });

  it("name tests that exist", () => {
    // What fails here names a file that was renamed or removed: name the one that brings the fault about now.
    const lost = rows.flatMap(({ fault, tests }) =>
      filesOf(tests)
        .filter((file) => !existsSync(join(root, "test", `${file}.test.ts`)))
        .map((file) => `${fault}: ${file}`),
    );
    expect(lost).toEqual([]);
  });

  it("say why where no test is named", () => {
    const silent = rows.filter(
      ({ outcome, tests }) => filesOf(tests).length === 0 && !/^Not covered: \w|^Flat: /.test(outcome),
    );
    expect(silent).toEqual([]);
  });
});

it("the invariants in docs/reliability.md are all there, each once, and name files that exist", () => {
  const held = [...text.matchAll(/^\| (I\d+) +\| .+? +\| (.+?) +\|$/gm)].map(([, id, files = ""]) => ({
    id,
    files: filesOf(files),
  }));
  expect(held.map(({ id }) => id)).toEqual(Array.from({ length: INVARIANTS }, (_, at) => `I${at + 1}`));
  const paths = held.flatMap(({ files }) => files);
  const isThere = (file: string): boolean =>
    existsSync(join(root, `${file}.ts`)) || existsSync(join(root, "test", `${file}.test.ts`));
  expect(paths.filter((file) => !isThere(file))).toEqual([]);
  expect(held.filter(({ files }) => files.length === 0)).toEqual([]);
});
