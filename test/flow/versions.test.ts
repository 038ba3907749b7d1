import { describe, expect, it } from "@jest/globals";
import { nextVersion, releasedAs } from "../../src/flow/versions.ts";

describe("a tag", () => {
  it.each(["v2.0.0-rc.1", "2.0.0-1", "v1.0.0-alpha+build.5", "v2.0-beta", "web@1.0.0-rc.1", "api/v1.0.0-x"])(
    "%s names a prerelease",
    (tagName) => expect(releasedAs({ tagName }, [])).toEqual({ isPrerelease: true, isLatest: false }),
  );
  it.each(["v2.0.0", "v2", "2026-01-31", "release-2026-01-31", "nightly", "v1.0.0+build-5", "release-1.4"])(
    "%s names no prerelease",
    (tagName) => expect(releasedAs({ tagName }, []).isPrerelease).toBe(false),
  );

  it.each<[string, string[], boolean]>([
    ["v1.4.2", ["v2.0.0", "v1.4.1"], false],
    ["v2.0.1", ["v2.0.0", "v1.4.2"], true],
    ["v2.0.0", ["v2.0.0"], true],
    ["v1.10.0", ["v1.9.0"], true],
    ["v1.9.0", ["v1.10.0"], false],
    ["v2.0", ["v2.0.1"], false],
    ["1.9.0", ["v2.0.0"], false],
    ["v1.4.2", ["v2.0.0-rc.1"], true],
    ["v2.0.0", ["v2.0.0-rc.1"], true],
    ["v3.0.0-rc.1", [], false],
    ["v1.0.0", ["web@9.0.0"], true],
    ["web@1.0.0", ["web@1.0.1", "v0.1.0"], false],
    ["2026-01-31", ["v1.0.0"], true],
    ["v1.0.0", ["2026-01-31", "nightly"], true],
    ["1.0.0", ["20260131"], true],
  ])("%s beside %j becomes the latest: %s", (tagName, tags, expected) => {
    expect(releasedAs({ tagName }, tags).isLatest).toBe(expected);
  });

  it.each<[string, boolean | null]>([
    ["v2.0.0", null],
    ["v2.0.0-rc.1", false],
    ["nightly", true],
  ])("%s beside unknown tags becomes the latest: %s", (tagName, expected) => {
    expect(releasedAs({ tagName }, null).isLatest).toBe(expected);
  });

  it.each<[string[], string | null]>([
    [["v1.4.2", "v2.0.0", "v1.4.1"], "v2.1.0"],
    [["v2.0.0-rc.2", "v2.0.0-rc.10", "v1.0.0"], "v2.0.0"],
    [["v2.0.0", "v2.0.0-rc.1"], "v2.1.0"],
    [["1.4"], "1.5"],
    [["v7", "v6"], "v8"],
    [["1.2.3.4"], "1.3.0.0"],
    [["web@1.0.0", "v9.0.0"], "web@1.1.0"],
    [["nightly", "v1.0.0-alpha", "v1.0.0-alpha.1"], "v1.0.0"],
    [["nightly", "2026-01-31"], null],
    [["build-20260131", "build-20260130"], null],
    [["20260131.2", "v20260131", "nightly-202601311830", "deploy/20260131183000"], null],
    [["build-20260131", "v1.2.0"], "v1.3.0"],
    [["build-20261331", "build-4711"], "build-20261332"],
    [[], null],
  ])("after %j is %s", (tags, expected) => expect(nextVersion(tags)).toBe(expected));

  it.each([
    [
      { tagName: "v1.4.2", latest: true },
      { isPrerelease: false, isLatest: true },
    ],
    [
      { tagName: "v9.0.0", latest: false },
      { isPrerelease: false, isLatest: false },
    ],
    [
      { tagName: "v9.0.0", prerelease: true },
      { isPrerelease: true, isLatest: false },
    ],
    [
      { tagName: "v2.1.0-x", prerelease: false, latest: true },
      { isPrerelease: false, isLatest: true },
    ],
  ])("is released as the request %j says", (version, expected) => {
    expect(releasedAs(version, ["v2.0.0"])).toEqual(expected);
  });
});
