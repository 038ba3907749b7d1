import type { RequestListener } from "node:http";
import type { Express, Request, Response } from "express";
import { errorHandler } from "./errors.ts";
import type { Route } from "./route.ts";

/** Does a call of a route. What it throws is answered as an error. */
export type Serve = (route: Route, request: Request, response: Response) => Promise<void>;

interface Found {
  readonly route: Route;
  readonly params: Record<string, string>;
}

/** What stands for itself, and no empty part: a path that is written in another way is left to express. */
const PLAIN = /^(?:\/[\w.~-]+)+$/;

/** Of a route's path: a text, or the name of the parameter that stands there. */
interface Part {
  readonly text: string;
  readonly name: string | undefined;
}

/** Finds routes by method and path, as nearly all callers write it; null for what express has to look at. */
export function routeFinder(routes: readonly Route[]): (method: string, path: string) => Found | null {
  const byShape = new Map<string, { route: Route; wanted: Part[] }[]>();
  for (const route of routes) {
    const { method, path } = route.definition;
    const parts = path.split("/");
    const shape = shapeOf(method.toUpperCase(), parts);
    const wanted = parts.map((text) => ({ text, name: /^\{(\w+)\}$/.exec(text)?.[1] }));
    byShape.set(shape, [...(byShape.get(shape) ?? []), { route, wanted }]);
  }
  return (method, path) => {
    if (!PLAIN.test(path)) return null;
    const parts = path.split("/");
    for (const candidate of byShape.get(shapeOf(method, parts)) ?? []) {
      const params = paramsOf(candidate.wanted, parts);
      if (params) return { route: candidate.route, params };
    }
    return null;
  };
}

/** No route has a parameter among the first two parts of its path. */
const shapeOf = (method: string, parts: readonly string[]): string => `${method} ${parts.length} ${parts[2]}`;

function paramsOf(wanted: readonly Part[], parts: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [at, { text, name }] of wanted.entries()) {
    const part = parts[at] ?? "";
    if (name !== undefined) params[name] = part;
    else if (part !== text) return null;
  }
  return params;
}

/**
 * Hands calls straight to their routes, and all that is no such call to the app, which serves the same routes: express's own way to them was a twentieth of node's part of changing
 * a card.
 */
export function straightToRoutes(app: Express, routes: readonly Route[], serve: Serve): RequestListener {
  const find = routeFinder(routes);
  return (incoming, outgoing) => {
    const { method = "", url = "" } = incoming;
    const end = url.indexOf("?");
    const found = find(method, end < 0 ? url : url.slice(0, end));
    if (!found) {
      app(incoming, outgoing);
      return;
    }
    // Made by `messagesOf`.
    const [request, response] = [incoming as Request, outgoing as Response];
    request.res = response;
    response.req = request;
    request.originalUrl = request.url;
    request.params = found.params;
    request.route = found.route.definition;
    void answer(request, response, () => serve(found.route, request, response));
  };
}

async function answer(request: Request, response: Response, serve: () => Promise<void>): Promise<void> {
  try {
    await serve();
  } catch (error) {
    // As express ends what fails when its answer is on the way.
    await errorHandler(error, request, response, () => request.socket.destroy());
  }
}
