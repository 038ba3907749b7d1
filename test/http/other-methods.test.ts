import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { routes } from "../../src/http/v1/routes.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const takenAt = new Map<string, Set<string>>([
  ["/api/github/webhooks", new Set(["POST"])],
  ["/monitors/01900000-0000-7000-8000-000000000000", new Set(["POST"])],
  ...["/", "/docs", "/healthz", "/readyz", "/metrics", "/v1/openapi.json"].map(
    (path) => [path, new Set(["GET"])] as const,
  ),
]);
for (const { definition } of routes) {
  const path = definition.path.replaceAll(/\{\w+\}/g, "1");
  takenAt.set(path, (takenAt.get(path) ?? new Set()).add(definition.method.toUpperCase()));
}

const ask = (path: string, method: string) => fetch(`${world.service.baseUrl}${path}`, { method });

describe.each([...takenAt])("%s", (path, taken) => {
  const allowed = [...taken, ...(taken.has("GET") ? ["HEAD"] : [])].toSorted().join(", ");

  it("says which methods it takes to whoever uses another one, or asks", async () => {
    for (const method of METHODS.filter((each) => !taken.has(each))) {
      const answer = await ask(path, method);
      expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, allowed]);
      expect(await answer.json()).toEqual({
        message: `${path} allows ${allowed}, not ${method}.`,
        error: "Method Not Allowed",
        statusCode: 405,
      });
    }
    const asked = await ask(path, "OPTIONS");
    expect([asked.status, asked.headers.get("allow"), await asked.text()]).toEqual([204, allowed, ""]);
    for (const method of taken) expect((await ask(path, method)).status).not.toBe(405);
  });
});
