import type { Route } from "./route.ts";

export interface MatchedRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

interface RouteTable {
  /** The route of a path without prefix and query; null if none matches. */
  match(method: string, path: string): MatchedRoute | null;
}

/** Parameters that may contain slashes. */
const MULTI_SEGMENT_PARAMS = new Set(["ref", "path", "branch", "basehead", "tag"]);

/** The first matching route wins. `/repositories/{id}` is an alias of `/repos/{owner}/{repo}`. */
export function makeRouteTable(routes: readonly Route[]): RouteTable {
  const compiled = routes.map((each) => ({ route: each, pattern: compile(each.path) }));
  return {
    match(method, path) {
      const routeMethod = method === "HEAD" ? "GET" : method;
      const named = path.replace(/^\/repositories\/(\d+)(?=\/|$)/, "/repos/:id/$1").replace(/(?<=.)\/$/, "");
      for (const { route, pattern } of compiled) {
        if (route.method !== routeMethod) continue;
        const found = pattern.exec(named);
        const params = found && decodeParams(found.groups ?? {});
        if (params !== null) return { route, params };
      }
      return null;
    },
  };
}

function compile(template: string): RegExp {
  const source = template
    .split(/(\{\w+\})/)
    .map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name === undefined) return part.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
      return MULTI_SEGMENT_PARAMS.has(name) ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`;
    })
    .join("");
  return new RegExp(`^${source}$`);
}

function decodeParams(groups: Readonly<Record<string, string>>): Record<string, string> | null {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    return null;
  }
}
