import { describe, expect, it } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describeConsoleTypes, type OpenApi } from "../../scripts/describe-console-types.ts";

const CONSOLE = resolve(import.meta.dirname, "../../console");
const textOf = (path: string): string => readFileSync(join(CONSOLE, path), "utf8");
const files = readdirSync(CONSOLE, { recursive: true, encoding: "utf8" }).filter((path) =>
  /\.(?:tsx?|css)$/.test(path),
);
const code = files.filter((path) => !path.endsWith(".css") && !path.endsWith(".d.ts"));

describe("the source of the console", () => {
  it("has the types of openapi.json; otherwise run npm run console-types", () => {
    const openApi = JSON.parse(textOf("../openapi.json")) as OpenApi;
    expect(textOf("api/schema.d.ts")).toBe(describeConsoleTypes(openApi));
  });

  it("imports no file of the service", () => {
    const outside = code.flatMap((path) =>
      [...textOf(path).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
        .map(([, name = ""]) => relative(CONSOLE, resolve(CONSOLE, dirname(path), name)))
        .filter((target) => target.startsWith("..")),
    );
    expect(outside).toEqual([]);
  });

  it("never turns text into HTML or code", () => {
    const unsafe = code.filter((path) =>
      /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|\beval\(/.test(textOf(path)),
    );
    expect(unsafe).toEqual([]);
  });

  it("has at most 25 files in a folder and 300 lines in a file", () => {
    const folders = [...new Set(files.map((path) => dirname(path)))];
    const sizeOf = (folder: string): number => files.filter((path) => dirname(path) === folder).length;
    expect(folders.filter((folder) => sizeOf(folder) > 25)).toEqual([]);
    const long = files.filter(
      (path) => !path.endsWith("schema.d.ts") && textOf(path).split("\n").length > 300,
    );
    expect(long).toEqual([]);
  });

  it("uses colors and sizes of tokens.css only, except for the colors of labels", () => {
    const styles = files.filter((path) => path.endsWith(".css") && !/tokens|badge/.test(path));
    expect(styles.filter((path) => /#[0-9a-f]{3,8}\b|\brgb|\bhsl/i.test(textOf(path)))).toEqual([]);
    expect(styles.filter((path) => /font-size:\s*[\d.]+(?:rem|px)/.test(textOf(path)))).toEqual([
      "components/avatar.css",
      "shell/shell.css",
    ]);
  });

  it("puts every rule into a layer", () => {
    const unlayered = files.filter(
      (path) =>
        path.endsWith(".css") &&
        !textOf(path)
          .trimStart()
          .replace(/^\/\*.*?\*\/\s*/s, "")
          .startsWith("@layer"),
    );
    expect(unlayered).toEqual([]);
  });
});
