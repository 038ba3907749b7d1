import { expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REFUSAL_REASONS } from "../../src/flow/refusal.ts";

it("every reason of a refusal is explained in docs/refusals.md, and no other", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/refusals.md"), "utf8");
  const explained = [...text.matchAll(/^### `(\w+)`$/gm)].map(([, reason]) => reason);
  expect(explained).toEqual([...REFUSAL_REASONS]);
});
