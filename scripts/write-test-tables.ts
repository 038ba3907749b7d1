import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { refusalsDocument } from "./refusals-document.ts";
import { contractDocument, faultsDocument, problemsOf, readTags } from "./test-tables.ts";

/**
 * Writes `docs/contract.md` and `docs/faults.md` from the tags in the tests, and prints the problems
 * of the tags. Writes the messages of GitHub into `docs/refusals.md`.
 */
const root = join(import.meta.dirname, "..");
const tags = readTags(root);
await writeFile(join(root, "docs/contract.md"), contractDocument(tags));
await writeFile(join(root, "docs/faults.md"), faultsDocument(tags));
const refusals = join(root, "docs/refusals.md");
await writeFile(refusals, refusalsDocument(await readFile(refusals, "utf8")));
const problems = problemsOf(tags);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
