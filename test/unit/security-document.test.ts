import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "@jest/globals";

const ROOT = resolve(import.meta.dirname, "../..");

it("docs/security.md names only tests that exist", () => {
  const folders = readdirSync(join(ROOT, "test"));
  const text = readFileSync(join(ROOT, "docs/security.md"), "utf8");
  const named = [...text.matchAll(/`(\w+)\/([\w-]+)`/g)]
    .filter(([, folder = ""]) => folder !== "src")
    .map(([, folder = "", name = ""]) => ({ folder, path: `test/${folder}/${name}` }));
  expect(named.length).toBeGreaterThan(40);
  const isMissing = ({ folder, path }: { folder: string; path: string }) =>
    !folders.includes(folder) ||
    !["test.ts", "slow.test.ts"].some((end) => existsSync(join(ROOT, `${path}.${end}`)));
  expect(named.filter(isMissing)).toEqual([]);
});
