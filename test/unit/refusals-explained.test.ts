import { expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { refusalsDocument } from "../../scripts/refusals-document.ts";
import { REFUSAL_REASONS } from "../../src/flow/refusal.ts";

const text = readFileSync(join(import.meta.dirname, "../../docs/refusals.md"), "utf8");

it("docs/refusals.md explains every refusal reason and no other", () => {
  const explained = [...text.matchAll(/^### `(\w+)`$/gm)].map(([, reason]) => reason);
  expect(explained).toEqual([...REFUSAL_REASONS]);
});

it("docs/refusals.md lists the messages that the code matches: run `npm run test-tables`", () => {
  expect(text).toBe(refusalsDocument(text));
});
