import { describe, expect, it } from "@jest/globals";
import { routes } from "../../src/http/v1/routes.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const methodsOf = new Map<string, Set<string>>([
  ["/api/github/webhooks", new Set(["POST"])],
  ["/monitors/01900000-0000-7000-8000-000000000000", new Set(["POST"])],
  ...["/", "/docs", "/healthz", "/readyz", "/metrics", "/v1/openapi.json"].map(
    (path) => [path, new Set(["GET"])] as const,
  ),
]);
for (const { definition } of routes) {
  const path = definition.path.replaceAll(/\{\w+\}/g, "1");
  methodsOf.set(path, (methodsOf.get(path) ?? new Set()).add(definition.method.toUpperCase()));
}

const ask = (path: string, method: string) => fetch(`${world.service.baseUrl}${path}`, { method });

describe.each([...methodsOf])("%s", (path, supported) => {
  const allowed = [...supported, ...(supported.has("GET") ? ["HEAD"] : [])].toSorted().join(", ");

  it("refuses other methods with 405 and responds to OPTIONS with 204, both with an Allow header", async () => {
    for (const method of METHODS.filter((each) => !supported.has(each))) {
      const response = await ask(path, method);
      expect([method, response.status, response.headers.get("allow")]).toEqual([method, 405, allowed]);
      expect(await response.json()).toEqual({
        message: `${path} allows ${allowed}, not ${method}.`,
        error: "Method Not Allowed",
        statusCode: 405,
      });
    }
    const options = await ask(path, "OPTIONS");
    expect([options.status, options.headers.get("allow"), await options.text()]).toEqual([204, allowed, ""]);
    for (const method of supported) expect((await ask(path, method)).status).not.toBe(405);
  });
});
