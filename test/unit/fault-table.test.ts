import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { faultsDocument, problemsOf, readTags, tagsIn } from "../../scripts/test-tables.ts";

const root = join(import.meta.dirname, "../..");
const tags = readTags(root);

/** The problems of the tests' tags and one additional tag. */
function problemsWith(line: string): string[] {
  const { tags: more } = tagsIn("more.test.ts", `${line}\nit("works", () => {});\n`);
  expect(more).toHaveLength(1);
  return problemsOf({ tags: [...tags.tags, ...more], malformed: [] });
}

it("docs/faults.md is generated from the tests' tags; `npm run test-tables` writes it", () => {
  expect(readFileSync(join(root, "docs/faults.md"), "utf8")).toBe(faultsDocument(tags));
});

it.each(["A10", "B1", "C16", "D15", "E14", "I14"])("%s must be covered", (id) => {
  const others = tags.tags.filter(({ subject }) => subject !== id);
  expect(others.length).toBeLessThan(tags.tags.length);
  expect(problemsOf({ tags: others, malformed: [] })).toContain(`${id} is not covered`);
});

it("a second test of a fault has the id alone", () => {
  expect(problemsWith("// Fault: C7")).toEqual(problemsOf(tags));
  expect(problemsWith("// Fault: C7 Something else fails => 503")).toContain("C7 is described 2 times");
});

it.each([
  ["// Fault: F1 Something else fails => 503", "there is no section for F1"],
  ["// Fault: I7", "more.test.ts: Fault does not match I7"],
  ["// Invariant: C7", "more.test.ts: Invariant does not match C7"],
  ["// Fault: A99 Something else fails", "A99 has no outcome after =>"],
  ["// Fault: A99", "A99 is described 0 times"],
  ["// Fault: E15 Something else fails => 503", "E15 is described 1 times"],
])("%s is refused: %s", (line, problem) => {
  expect(problemsWith(line)).toContain(problem);
});
