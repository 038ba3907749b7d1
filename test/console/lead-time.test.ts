import { expect, it } from "@jest/globals";
import { durationOf } from "../../console/trunk/series.ts";

it.each([
  [0, "under a minute"],
  [0.01, "14 minutes"],
  [0.04, "58 minutes"],
  [0.05, "1 hour"],
  [0.5, "12 hours"],
  [1, "1 day"],
  [2.25, "2.25 days"],
])("a lead time of %d days is shown as %s", (days, text) => expect(durationOf(days)).toBe(text));
