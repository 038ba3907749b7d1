import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { recordExamples } from "../support/stories/api-examples.ts";
import { useWorld } from "../support/use-world.ts";

const FILE = join(import.meta.dirname, "../../src/http/examples.json");

const world = useWorld({
  webhooks: {
    allowedAddresses: ["127.0.0.0/8"],
    resolveHost: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
  },
});

it("the examples of the API reference are calls and responses of the service", async () => {
  const recorded = await recordExamples(world);
  if (process.env["WRITE_EXAMPLES"] !== undefined) writeFileSync(FILE, JSON.stringify(recorded));
  const committed = JSON.parse(readFileSync(FILE, "utf8")) as typeof recorded;
  // If this fails, run `npm run examples`.
  const statuses = (examples: typeof recorded) =>
    Object.entries(examples).map(([operation, { responses }]) => [operation, Object.keys(responses)]);
  expect(statuses(committed)).toEqual(statuses(recorded));
});
