import { expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REFUSAL_REASONS } from "../../src/flow/refusal.ts";

it("docs/refusals.md explains every refusal reason and no other", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/refusals.md"), "utf8");
  const explained = [...text.matchAll(/^### `(\w+)`$/gm)].map(([, reason]) => reason);
  expect(explained).toEqual([...REFUSAL_REASONS]);
});
