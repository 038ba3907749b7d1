import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { levels } from "pino";
import { eventually } from "../support/api.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

const HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const PAGE = '<!doctype html><script type="module" src="/assets/main-abc.js"></script>';

let world: TestWorld;
let unbuilt: TestWorld;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "trunkline-pages-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), PAGE);
  await writeFile(join(folder, "favicon.svg"), "<svg/>");
  await writeFile(join(folder, "assets/main-abc.js"), "export {};\n");
  world = await startWorld({ console: { pagesFolder: folder } });
  unbuilt = await startWorld({
    console: { pagesFolder: join(folder, "nothing"), clientSecret: null, isSandbox: false, publicUrl: null },
  });
});
afterAll(async () => {
  await world.stop();
  await unbuilt.stop();
  await rm(folder, { recursive: true });
});

const get = async (path: string, accept = HTML, { service }: TestWorld = world) => {
  const response = await fetch(`${service.baseUrl}${path}`, { headers: { accept }, redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

/** The level at which the last request of each path was logged. */
const levelsOfRequests = () =>
  Object.fromEntries(
    world
      .logged()
      .split("\n")
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line) as { readonly path: string; readonly level: number })
      .map(({ path, level }) => [path, levels.labels[level]]),
  );

const policy = () =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' ${world.forge.rootUrl}; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

describe("the pages of the console", () => {
  it.each(["/", "/cards/7", "/sign-in?problem=expired", "/inbox", "/a.b"])(
    "%s is the built page",
    async (path) => {
      const { status, headers, text } = await get(path);
      expect([status, text]).toEqual([200, PAGE]);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(headers.get("content-security-policy")).toBe(policy());
      expect(headers.get("cache-control")).toBe("no-cache");
    },
  );

  it("are cached for ever only if their name has a digest", async () => {
    const asset = await get("/assets/main-abc.js");
    expect([asset.status, asset.headers.get("cache-control")]).toEqual([
      200,
      "public, max-age=31536000, immutable",
    ]);
    const icon = await get("/favicon.svg");
    expect([icon.status, icon.headers.get("cache-control")]).toEqual([200, "no-cache"]);
    for (const { headers } of [asset, icon]) expect(headers.get("content-security-policy")).toBe(policy());
  });

  it.each([
    "/assets/main-old.js",
    "/v1/nowhere",
    "/console/nowhere",
    "/console/v1/nowhere",
    "/docs/x",
    "/monitors/7/x",
  ])("do not replace the 404 of %s", async (path) => {
    const { status, headers } = await get(path);
    expect([status, headers.get("content-type")]).toEqual([404, "application/json; charset=utf-8"]);
  });

  it.each(["*/*", "application/json", ""])("are not sent to a client that accepts %j", async (accept) => {
    const unknown = await get("/cards/7", accept);
    expect([unknown.status, unknown.headers.get("content-type")]).toEqual([
      404,
      "application/json; charset=utf-8",
    ]);
    expect(JSON.parse((await get("/", accept)).text)).toMatchObject({ name: "Trunkline", docs: "/docs" });
  });

  it.each([
    "/../package.json",
    "/%2e%2e/package.json",
    "/..%2fpackage.json",
    "/assets/..%2f..%2fpackage.json",
  ])("do not include the file %s", async (path) => {
    const { text } = await get(path);
    expect(text).not.toContain('"dependencies"');
  });

  it("leave the policy of the API reference alone", async () => {
    const { status, headers } = await get("/docs");
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-security-policy")).not.toBe(policy());
  });

  it("log a file at the level debug, and a page or a missing file at info", async () => {
    const expected = {
      "/assets/main-abc.js": "debug",
      "/favicon.svg": "debug",
      "/assets/main-lost.js": "info",
      "/logged": "info",
    };
    for (const path of Object.keys(expected)) await get(path);
    const found = await eventually(
      async () => levelsOfRequests(),
      (each) => "/logged" in each,
    );
    expect(found).toMatchObject(expected);
  });

  it("say how to build them if they are missing", async () => {
    const { status, headers, text } = await get("/", HTML, unbuilt);
    expect([status, headers.get("content-type"), text]).toEqual([
      503,
      "text/plain; charset=utf-8",
      expect.stringContaining("npm run build"),
    ]);
  });
});

it("without its settings the service starts, and a sign-in says what to set", async () => {
  for (const path of ["/console/sign-in", "/console/callback?state=a", "/console/first-sign-in/tlf_a"]) {
    const { status, text } = await get(path, HTML, unbuilt);
    expect([status, text]).toEqual([503, expect.stringContaining("Set CLIENT_SECRET")]);
    expect(text).toContain("PUBLIC_URL");
    expect(text).not.toContain("CLIENT_ID");
  }
  expect((await get("/console/session", HTML, unbuilt)).status).toBe(401);
  expect((await get("/healthz", HTML, unbuilt)).status).toBe(200);
});
