import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SEEDED_BUGS } from "../../faults/seeded-bugs/bugs.ts";
import { shipService, type Shipped } from "../support/processes/shipped-service.ts";

let shipped: Shipped;
beforeAll(async () => {
  shipped = await shipService();
});
afterAll(() => shipped?.remove());

it.each(SEEDED_BUGS)("finds the code that a seeded bug replaces: $name", async ({ edits }) => {
  for (const { file, find } of edits)
    expect(await readFile(join(shipped.dir, "dist/src", file), "utf8")).toContain(find);
});
