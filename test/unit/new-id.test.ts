import { describe, expect, it } from "@jest/globals";
import { version } from "uuid";
import { newId } from "../../src/new-id.ts";

describe("new ids", () => {
  it("are increasing UUIDs of version 7 with unique random ends", () => {
    const before = Date.now();
    const ids = Array.from({ length: 5_000 }, newId);
    expect(ids.every((id) => version(id) === 7)).toBe(true);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids.map((id) => id.slice(-10))).size).toBe(ids.length);
    const made = Number.parseInt((ids[0] ?? "").replace("-", "").slice(0, 12), 16);
    expect(made).toBeGreaterThanOrEqual(before);
    expect(made).toBeLessThanOrEqual(Date.now());
  });
});
