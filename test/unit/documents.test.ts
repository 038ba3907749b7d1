/** Names in the documents must exist in the code. */
import { describe, expect, it } from "@jest/globals";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const documents = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  "bench/README.md",
];
const GUIDES_TO_THE_CODE = ["docs/architecture.md", "CONTRIBUTING.md"];

/** Whether a file declares a function, constant, type, class or method with this name. */
const declares = (text: string, name: string): boolean =>
  new RegExp(`\\b(?:function\\*?|const|interface|type|class) ${name}\\b|^  (?:async )?${name}[<(]`, "m").test(
    text,
  );

describe("the documents", () => {
  it.each(documents)("%s links to files that exist", (path) => {
    const targets = [...textOf(path).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map(
      ([, target = ""]) => target,
    );
    expect(targets.filter((target) => !existsSync(join(ROOT, dirname(path), target)))).toEqual([]);
  });

  it.each(GUIDES_TO_THE_CODE)("%s names functions that exist in the given files", (path) => {
    const named = [...textOf(path).matchAll(/`(\w+)`\s+\(`([\w/.-]+\.ts)`\)/g)];
    expect(named.length).toBeGreaterThan(2);
    const lost = named
      .filter(([, name = "", file = ""]) => {
        const source = [ROOT, join(ROOT, "src")].map((folder) => join(folder, file)).find(existsSync);
        return source === undefined || !declares(readFileSync(source, "utf8"), name);
      })
      .map(([text]) => text);
    expect(lost).toEqual([]);
  });

  it.each([...GUIDES_TO_THE_CODE, ...documents.filter((path) => path.startsWith("docs/adr/"))])(
    "%s names code files that exist",
    (path) => {
      const named = [...textOf(path).matchAll(/`([\w-]+(?:\/[\w.-]+)+\.(?:ts|mjs|md|yml))`/g)].map(
        ([, file = ""]) => file,
      );
      const lost = named.filter(
        (file) => ![ROOT, join(ROOT, "src")].some((folder) => existsSync(join(folder, file))),
      );
      expect(lost).toEqual([]);
    },
  );

  it("define the terms of the glossary in alphabetical order", () => {
    const terms = [...textOf("docs/glossary.md").matchAll(/^\*\*([^*]+)\*\*/gm)].map(([, term = ""]) =>
      term.toLowerCase(),
    );
    expect(terms.length).toBeGreaterThan(15);
    expect(terms).toEqual(terms.toSorted());
  });
});
