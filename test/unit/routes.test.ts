import { expect, it } from "@jest/globals";
import { routes } from "../../src/http/v1/routes.ts";

const partsOf = (path: string): string[] => path.split("/");

it("no two routes of one method match the same path, so their order does not matter", () => {
  const mayMatchTheSame = (a: string, b: string): boolean =>
    partsOf(a).length === partsOf(b).length &&
    partsOf(a).every((part, at) => {
      const other = partsOf(b)[at] ?? "";
      return part.startsWith("{") || other.startsWith("{") || part.toLowerCase() === other.toLowerCase();
    });
  const alike = routes.flatMap(({ definition: one }, at) =>
    routes
      .slice(at + 1)
      .filter(({ definition: other }) => one.method === other.method && mayMatchTheSame(one.path, other.path))
      .map(({ definition: other }) => [one.method, one.path, other.path]),
  );
  expect(alike).toEqual([]);
});
