import { describe, expect, it } from "@jest/globals";
import { routeFinder } from "../../src/http/straight-to-routes.ts";
import { routes } from "../../src/http/v1/routes.ts";

const find = routeFinder(routes);
const partsOf = (path: string): string[] => path.split("/");

describe("a route", () => {
  it.each(routes.map(({ definition: { method, path } }) => [method.toUpperCase(), path] as const))(
    "is found by its path, with its parameters: %s %s",
    (method, path) => {
      const params: Record<string, string> = {};
      const asked = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (params[name] = `-${name}.7~`));
      const found = find(method, asked);
      expect(found?.route.definition).toMatchObject({ method: method.toLowerCase(), path });
      expect(found?.params).toEqual(params);
    },
  );

  it("has a path that no other of its method has, too, so that their order decides nothing", () => {
    const mayBeOne = (a: string, b: string): boolean =>
      partsOf(a).length === partsOf(b).length &&
      partsOf(a).every((part, at) => {
        const other = partsOf(b)[at] ?? "";
        return part.startsWith("{") || other.startsWith("{") || part.toLowerCase() === other.toLowerCase();
      });
    const alike = routes.flatMap(({ definition: one }, at) =>
      routes
        .slice(at + 1)
        .filter(({ definition: other }) => one.method === other.method && mayBeOne(one.path, other.path))
        .map(({ definition: other }) => [one.method, one.path, other.path]),
    );
    expect(alike).toEqual([]);
  });
});

describe("left to express is", () => {
  it.each([
    ["another method", "HEAD", "/v1/board"],
    ["another path", "GET", "/v1/boards"],
    ["a shorter path", "GET", "/v1"],
    ["no path", "OPTIONS", "*"],
    ["a slash at the end", "GET", "/v1/cards/7/"],
    ["an empty part", "GET", "/v1//7"],
    ["an empty parameter", "GET", "/v1/cards/"],
    ["what is encoded", "GET", "/v1/cards/%37"],
    ["what is no ASCII", "GET", "/v1/cards/é"],
    ["a line after it", "GET", "/v1/cards/7\n"],
    ["capital letters in the path", "GET", "/v1/Cards/7"],
    ["a whole address", "GET", "http://trunkline.example/v1/cards/7"],
  ])("%s: %s %s", (_, method, path) => expect(find(method, path)).toBeNull());
});
