import { describe, expect, it } from "@jest/globals";
import { makeCredentialKey } from "../../src/actions/credentials/credential-key.ts";
import { FailedKeys, networkOf, TokenBuckets } from "../../src/http/authenticate.ts";

const clocked = (burst: number, perSecond: number) => {
  let time = 1_000;
  const buckets = new TokenBuckets({ burst, perSecond, now: () => time });
  return { buckets, pass: (seconds: number) => (time += seconds * 1_000) };
};

describe("a token bucket", () => {
  it("permits its burst, then returns the time until the next token", () => {
    const { buckets } = clocked(3, 2);
    expect([1, 2, 3, 4, 5].map(() => buckets.take("a"))).toEqual([null, null, null, 0.5, 0.5]);
  });

  it("refills with time up to its burst", () => {
    const { buckets, pass } = clocked(2, 4);
    for (const _ of [1, 2, 3]) buckets.take("a");
    pass(0.25);
    expect([buckets.take("a"), buckets.take("a")]).toEqual([null, 0.25]);
    pass(3_600);
    expect([1, 2, 3].map(() => buckets.take("a"))).toEqual([null, null, 0.25]);
  });

  it("is separate for each key", () => {
    const { buckets } = clocked(1, 1);
    expect([buckets.take("a"), buckets.take("b"), buckets.take("a")]).toEqual([null, null, 1]);
  });

  it("is removed after thousands of newer ones, not before", () => {
    const { buckets } = clocked(1, 1);
    buckets.take("a");
    for (let each = 0; each < 9_999; each++) buckets.take(`other ${each}`);
    expect(buckets.take("a")).toBe(1);
    for (let each = 0; each < 10_000; each++) buckets.take(`another ${each}`);
    expect(buckets.take("a")).toBeNull();
  });
});

describe("the network of an address", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2::9", "2001:db8:1:2"],
    ["2001:db8::9", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["", ""],
  ])("%s counts as %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe("failed keys", () => {
  const otherKey = () => makeCredentialKey();

  it("are counted by address", () => {
    const failed = new FailedKeys(2, () => 0);
    failed.count("203.0.113.7", otherKey());
    failed.count("203.0.113.7", null);
    expect(() => failed.count("203.0.113.7", otherKey())).toThrow("invalid API key");
    expect(() => failed.count("203.0.113.8", otherKey())).not.toThrow();
  });

  it("are counted by client id, from any address", () => {
    const failed = new FailedKeys(2, () => 0);
    const key = otherKey();
    failed.count("203.0.113.1", key);
    failed.count("203.0.113.2", key);
    expect(() => failed.count("203.0.113.3", key)).toThrow("invalid API key");
    expect(() => failed.count("203.0.113.3", otherKey())).not.toThrow();
  });
});
