import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { serveControl } from "../../sandbox/forge/control/serve-control.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/sandbox.md"), "utf8");

let open: TestForge;
let shut: TestForge;
beforeAll(async () => {
  open = await startTestForge({ controlToken: "control-me" });
  shut = await startTestForge();
});
afterAll(async () => {
  await open.stop();
  await shut.stop();
});

const ask = async (forge: TestForge, method: string, path: string, body?: string) => {
  const response = await fetch(`${forge.forge.rootUrl}/_control${path}`, {
    method,
    headers: { authorization: "Bearer control-me", "content-type": "application/json" },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, text: await response.text() };
};

describe("the forge's control API", () => {
  it("exists only if the forge was started with a token", async () => {
    expect(open.forge.controlEndpoint).toEqual({
      url: `${open.forge.rootUrl}/_control`,
      token: "control-me",
    });
    expect((await ask(open, "GET", "/faults")).status).toBe(200);
    expect(shut.forge.controlEndpoint).toBeNull();
    expect((await fetch(`${open.forge.rootUrl}/_control/faults`)).status).toBe(401);
    expect((await fetch(`${shut.forge.rootUrl}/_control/faults`)).status).toBe(404);
  });

  it.each([
    ["POST", "/faults", `{ "fault": { "kind": "answr", "status": 500 } }`, /body\.fault\.kind/],
    ["POST", "/faults", `{ "fault": { "kind": "response" } }`, /body\.fault\.status/],
    ["POST", "/faults", `{ "fault": { "kind": "hang" }, "time": 1 }`, /time/],
    ["POST", "/faults", `{ "fault": `, /JSON/],
    ["POST", "/faults", undefined, /body/],
    ["POST", "/script", `{ "match": {}, "responses": ["later"] }`, /body\.responses\.0/],
    ["POST", "/webhook-faults", `{ "fault": { "kind": "drop", "percent": 101 } }`, /body\.fault\.percent/],
    ["POST", "/release", `{ "order": "sorted" }`, /body\.order/],
    ["POST", "/webhooks", `{ "event": "push" }`, /body\.payload/],
    ["PUT", "/stale-reads", `{}`, /body\.seconds/],
    ["PUT", "/seed", `{ "seed": "x" }`, /body\.seed/],
    ["POST", "/revoke-tokens", `{}`, /body\.installationId/],
    ["PATCH", "/settings", `{ "hasAsyncMerge": 1 }`, /body\.hasAsyncMerge/],
    ["PUT", "/drafts", `{ "repository": "web", "allowed": true }`, /body\.repository/],
    ["PUT", "/immutable-releases", `{ "repository": "acme/web" }`, /body\.enabled/],
    ["PUT", "/rules", `{ "repository": "acme/none", "branch": "main" }`, /acme\/none/],
    ["POST", "/merge-queue", `{ "repository": "acme/web", "number": 9 }`, /pull request 9/],
    ["POST", "/merge-queue", `{ "repository": "acme/web", "number": 9, "remove": "no" }`, /body\.remove/],
  ])("names what it does not accept: %s %s %s", async (method, path, body, why) => {
    const result = await ask(open, method, path, body);
    expect([result.status, JSON.parse(result.text)]).toEqual([400, { message: expect.stringMatching(why) }]);
    expect(open.forge.control.faults.list()).toEqual([]);
  });

  it("lists the installations whose names faults and tokens use", async () => {
    const [installation] = open.forge.context.state.installations.all();
    const documented = JSON.parse((await ask(open, "GET", "/installations")).text) as unknown;
    expect(documented).toEqual([{ id: installation?.id, account: "acme" }]);
  });
});

describe("docs/sandbox.md", () => {
  it("has every route of the control API and an example that calls it", () => {
    const { stack } = serveControl(open.forge.control, "x");
    const routes = stack.flatMap(({ route }) =>
      route ? route.stack.map(({ method }) => [method.toUpperCase(), route.path] as const) : [],
    );
    expect(routes.length).toBeGreaterThan(15);
    const missing = routes.filter(([method, path]) => {
      const call = path === "/" ? `control ${method} ''` : `control ${method} ${path.replace(":id", "$")}`;
      return !page.includes(call);
    });
    expect(missing).toEqual([]);
  });

  it("has every kind of fault, for calls and for webhooks", () => {
    const schemas = readFileSync(join(ROOT, "sandbox/forge/control/request-schemas.ts"), "utf8");
    const kinds = [...schemas.matchAll(/kind: z\.literal\("([\w-]+)"\)/g)].map(([, kind = ""]) => kind);
    expect(kinds.length).toBeGreaterThan(12);
    expect(
      kinds.filter(
        (kind) => !page.includes(`"kind": "${kind}"`) && !page.includes(`\\"kind\\": \\"${kind}\\"`),
      ),
    ).toEqual([]);
  });
});
