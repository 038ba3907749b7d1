import type { Express, RequestHandler } from "express";
import { Problem } from "../errors.ts";

/** At every path that is served so far, answers methods it does not take: 405, with those it takes in `Allow`. OPTIONS asks for nothing else. */
export function refuseOtherMethods(app: Express): void {
  const methodsOf = new Map<string, string[]>();
  for (const { route } of app.router.stack) {
    if (!route) continue;
    const methods = route.stack.map(({ method }) => method.toUpperCase());
    methodsOf.set(route.path, [...(methodsOf.get(route.path) ?? []), ...methods]);
  }
  for (const [path, methods] of methodsOf) app.all(path, refuseAllBut(new Set(methods)));
}

function refuseAllBut(methods: Set<string>): RequestHandler {
  if (methods.has("GET")) methods.add("HEAD");
  const allowed = [...methods].toSorted().join(", ");
  return (request, response) => {
    response.set("Allow", allowed);
    if (request.method !== "OPTIONS")
      throw new Problem("method_not_allowed", `${request.path} takes ${allowed}, not ${request.method}.`);
    response.status(204).end();
  };
}
