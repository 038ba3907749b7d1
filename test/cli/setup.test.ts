/** Creates an App in a browser: `fetch` is the browser, the sandbox forge is GitHub. */
import { createPrivateKey, createPublicKey } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { runCommandLine } from "../../src/cli/run.ts";
import { readConfig } from "../../src/config.ts";
import { NEEDED_EVENTS, NEEDED_PERMISSIONS, OPTIONAL_PERMISSIONS } from "../../src/forge/github/app.ts";
import type { Fault } from "../../sandbox/forge/control/faults.ts";
import { eventually } from "../support/api.ts";
import { recordForge } from "../support/forge/record-forge.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";

const CONVERSION_PATH = "/app-manifests/{code}/conversions";
const NAMES = ["APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET", "CLIENT_ID", "CLIENT_SECRET"];

let world: TestForge;
let dir: string;
let envFile: string;
const running: Running[] = [];

beforeAll(async () => {
  world = await startTestForge();
});
afterAll(() => world.stop());

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "setup-"));
  envFile = join(dir, ".env");
});
afterEach(async () => {
  world.forge.control.reset();
  for (const { interrupt, ended } of running.splice(0)) {
    interrupt();
    await ended;
  }
  await rm(dir, { recursive: true });
});

interface Running {
  /** The URL that the browser opens first. */
  readonly address: string;
  readonly ended: Promise<{ readonly code: number; readonly output: string }>;
  readonly interrupt: () => void;
}

/** Runs the command until it waits for a browser or ends. */
async function setup(
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const lines: string[] = [];
  let interrupt = (): void => undefined;
  const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
  let listening = (_address: string): void => undefined;
  const opened = new Promise<string>((resolve) => (listening = resolve));
  const ended = runCommandLine(["setup", "--url", "http://127.0.0.1:9", "--port", "0", ...words], {
    env: { GHE_PROTOCOL: "http", GHE_HOST: new URL(world.forge.rootUrl).host, ...env },
    cwd: dir,
    pid: 1,
    print: (line) => {
      lines.push(line);
      const [address] = /http:\/\/localhost:\d+\//.exec(line) ?? [];
      if (address !== undefined) listening(address);
    },
    printError: (line) => void lines.push(line),
    readInput: () => Promise.resolve(""),
    untilSignal: () => interrupted,
  }).then((code) => ({ code, output: lines.join("\n") }));
  const address = await Promise.race([opened, ended.then(() => "")]);
  const all = { address, ended, interrupt };
  running.push(all);
  return all;
}

const withoutEntities = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");

/** The content and the target of the page's form. */
async function formAt(address: string) {
  const response = await fetch(address);
  const page = await response.text();
  const action = withoutEntities(/<form method="post" action="([^"]+)"/.exec(page)?.[1] ?? "");
  const manifest = withoutEntities(/name="manifest"\s+value="([^"]+)"/.exec(page)?.[1] ?? "");
  return { response, page, action, manifest };
}

/** Submits the form, confirms on the forge, and returns the URL that the browser is redirected to. */
async function agree(address: string): Promise<URL> {
  const { action, manifest } = await formAt(address);
  const result = await fetch(action, {
    method: "POST",
    body: new URLSearchParams({ manifest }),
    redirect: "manual",
  });
  expect(result.status).toBe(302);
  return new URL(result.headers.get("location") ?? "");
}

const configured = async () => {
  const settings = parseEnv(await readFile(envFile, "utf8"));
  const config = readConfig(
    { DATABASE_URL: "postgres://x@db/x", ...(settings as Record<string, string>) },
    dir,
  );
  if (config.mode !== "github") throw new Error("this environment starts a sandbox");
  return config;
};

const exchanges = (): number =>
  world.forge.requests.count(({ route }) => route === `POST ${CONVERSION_PATH}`);

/** The status for a request with another Host header, which `fetch` cannot send. */
const statusFor = (host: string, address: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(address, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });

describe("trunkline setup", () => {
  it.each([
    ["a person's", [], "/settings/apps/new"],
    ["an organization's", ["--org", "acme"], "/organizations/acme/settings/apps/new"],
  ])("creates %s App and writes the settings, but prints no secret", async (_whose, words, path) => {
    const recording = recordForge(world.forge);
    const { address, ended } = await setup([...words, "--name", 'The "best" & only']);
    const { response, page, action, manifest } = await formAt(address);
    expect(action).toMatch(new RegExp(`^${world.forge.rootUrl}${path}\\?state=[\\w-]{43}$`));
    expect(JSON.parse(manifest)).toEqual({
      name: 'The "best" & only',
      url: "http://127.0.0.1:9",
      hook_attributes: { url: "http://127.0.0.1:9/api/github/webhooks", active: true },
      redirect_url: `${address}made`,
      callback_urls: ["http://127.0.0.1:9/console/callback"],
      public: false,
      default_permissions: { ...NEEDED_PERMISSIONS, ...OPTIONAL_PERMISSIONS },
      default_events: NEEDED_EVENTS,
    });
    expect(page).not.toContain("<script");
    expect(response.headers.get("content-security-policy")).toBe(
      `default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action ${world.forge.rootUrl} ${address.slice(0, -1)}`,
    );
    expect(response.headers.get("cache-control")).toBe("no-store");

    const before = exchanges();
    const last = await (await fetch(await agree(address))).text();
    const { code, output } = await ended;
    expect([code, exchanges() - before]).toEqual([0, 1]);
    expect(recording.mismatches).toEqual([]);
    const { app } = world.forge;
    for (const text of [last, output]) {
      expect(text).toContain(`${world.forge.rootUrl}/apps/${app.slug}/installations/new`);
      expect(text).toContain(envFile);
      expect(text).not.toContain(app.webhookSecret);
      expect(text).not.toContain(app.clientSecret);
      expect(text).not.toMatch(/PRIVATE KEY-|LS0tLS1CRUdJTi/);
    }
    const config = await configured();
    expect([config.app.id, config.webhookSecrets]).toEqual([String(app.id), [app.webhookSecret]]);
    const publicPart = (pem: string) =>
      createPublicKey(createPrivateKey(pem)).export({ type: "spki", format: "pem" });
    expect(publicPart(config.app.privateKey)).toBe(publicPart(app.privateKey));
    expect((await stat(envFile)).mode & 0o777).toBe(0o600);
    await expect(fetch(address)).rejects.toThrow("fetch failed");
  });

  it("creates an App in which doctor reports no problem", async () => {
    const { address, ended } = await setup();
    await fetch(await agree(address));
    await ended;
    const lines: string[] = [];
    await runCommandLine(["doctor"], {
      env: {
        ...(parseEnv(await readFile(envFile, "utf8")) as Record<string, string>),
        DATABASE_URL: "postgres://x@127.0.0.1:9/x",
        GHE_PROTOCOL: "http",
        GHE_HOST: new URL(world.forge.rootUrl).host,
        PUBLIC_URL: "http://127.0.0.1:9",
      },
      cwd: dir,
      pid: 1,
      print: (line) => void lines.push(line),
      printError: () => undefined,
      readInput: () => Promise.resolve(""),
      untilSignal: () => Promise.resolve(),
    });
    const output = lines.join("\n");
    for (const about of ["app", "permissions", "webhook"])
      expect(output).not.toMatch(new RegExp(`(PROBLEM|warning) +${about}:`));
    // No manifest can select the event.
    const aboutEvents = output.split("\n").filter((line) => /(PROBLEM|warning) +events:/.test(line));
    expect(aboutEvents).toEqual([
      expect.stringMatching(/^ *warning .*not subscribed to installation_target/),
    ]);
    expect(output).toMatch(/ok +app: /);
    expect(output).toMatch(/ok +webhook: /);
  });

  describe("warns before the browser opens that GitHub cannot deliver webhooks", () => {
    const GITHUB = { GHE_HOST: "", GHE_PROTOCOL: "" };
    const warned = async (words: readonly string[], env: Readonly<Record<string, string>> = GITHUB) => {
      const { interrupt, ended } = await setup(words, env);
      interrupt();
      return (await ended).output;
    };

    it.each([
      "http://localhost:3000",
      "http://trunkline.localhost",
      "https://127.0.0.1",
      "http://[::1]:3000",
      "http://[::ffff:10.0.0.1]",
      "http://10.1.2.3",
      "https://172.31.0.1",
      "https://192.168.0.10",
      "http://100.64.0.1",
      "http://169.254.1.1",
      "http://[fd00::1]",
      "http://[fe80::1]",
      "https://trunkline.internal",
      "https://build-machine:8443",
    ])("to %s", async (url) => {
      expect(await warned(["--url", url])).toMatch(
        /^warning: GitHub cannot deliver webhooks to .*public HTTPS URL, or that of a tunnel/,
      );
    });

    it.each([
      "https://trunkline.example.com",
      "https://172.32.0.1",
      "https://100.128.0.1",
      "https://8.8.8.8",
      "https://[2606:4700::1]",
    ])("but not for %s", async (url) => {
      expect(await warned(["--url", url])).toMatch(/^Open http:\/\/localhost/);
    });

    it("but not with GitHub Enterprise Server, which may be in the same network", async () => {
      expect(await warned(["--url", "http://localhost:3000"], {})).toMatch(/^Open http:\/\/localhost/);
    });

    it("with --by-hand, and as a field of --json", async () => {
      const byHand = await warned(["--by-hand", "--url", "http://localhost:3000"]);
      expect(byHand).toMatch(/^warning: .*\n\nhttps:\/\/github\.com\/settings\/apps\/new\?/);
      const json = await warned(["--by-hand", "--json", "--url", "http://localhost:3000"]);
      expect(JSON.parse(json)).toEqual({
        url: expect.stringMatching(/^https:\/\/github\.com\//),
        warning: expect.stringContaining("http://localhost:3000"),
      });
    });
  });

  it("keeps other lines, fills in empty ones, and follows a symbolic link", async () => {
    const file = join(dir, "real.env");
    const before = "# ours\r\nAPP_ID=\nWEBHOOK_SECRET=''  # from the App\nPOSTGRES_PASSWORD=p\n";
    await writeFile(file, before, { mode: 0o644 });
    await symlink(file, envFile);
    const { address, ended } = await setup();
    await fetch(await agree(address));
    expect((await ended).code).toBe(0);
    const lines = (await readFile(file, "utf8")).split("\n");
    const { id, webhookSecret, clientId, clientSecret } = world.forge.app;
    expect(lines.slice(0, 4)).toEqual([
      "# ours\r",
      `APP_ID=${id}`,
      `WEBHOOK_SECRET=${webhookSecret}`,
      "POSTGRES_PASSWORD=p",
    ]);
    expect(lines[4]).toMatch(/^PRIVATE_KEY=[\w+/=]+$/);
    expect(lines.slice(5)).toEqual([
      `CLIENT_ID=${clientId}`,
      `CLIENT_SECRET=${clientSecret}`,
      "PUBLIC_URL=http://127.0.0.1:9",
      "",
    ]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readdir(dir)).toSorted()).toEqual([".env", "real.env"]);
  });

  it.each([...NAMES, "PRIVATE_KEY_PATH", "export APP_ID"])(
    "refuses to start if the file sets %s",
    async (name) => {
      await writeFile(envFile, `PORT=1\n${name}="kept"\n`);
      const { address, ended } = await setup();
      expect(address).toBe("");
      const { code, output } = await ended;
      expect(code).toBe(1);
      expect(output).toContain(`sets ${name.replace("export ", "")} already`);
      expect(await readFile(envFile, "utf8")).toBe(`PORT=1\n${name}="kept"\n`);
    },
  );

  it("refuses while the file has gained a value, and continues after its removal", async () => {
    const { address, ended } = await setup();
    const back = await agree(address);
    await writeFile(envFile, "APP_ID=7\n");
    const before = exchanges();
    const refused = await fetch(back);
    expect([refused.status, exchanges() - before]).toEqual([503, 0]);
    expect(await refused.text()).toContain("sets APP_ID already");
    expect(await readFile(envFile, "utf8")).toBe("APP_ID=7\n");
    await rm(envFile);
    expect((await fetch(back)).status).toBe(200);
    expect((await ended).code).toBe(0);
  });

  it("refuses a wrong, missing or repeated state or another host, and keeps waiting", async () => {
    const { address, ended } = await setup();
    const back = await agree(address);
    const changed = (change: (query: URLSearchParams) => void): URL => {
      const url = new URL(back);
      change(url.searchParams);
      return url;
    };
    const before = exchanges();
    for (const url of [
      changed((query) => query.set("state", "x".repeat(43))),
      changed((query) => query.delete("state")),
      changed((query) => query.append("state", "x")),
      changed((query) => query.delete("code")),
      changed((query) => query.set("code", "../../user")),
    ]) {
      const refused = await fetch(url);
      expect([url.search, refused.status]).toEqual([url.search, 403]);
    }
    expect(await statusFor("rebound.example.com", address)).toBe(403);
    expect(exchanges() - before).toBe(0);
    await expect(readFile(envFile)).rejects.toThrow("ENOENT");
    expect((await fetch(back)).status).toBe(200);
    expect((await ended).code).toBe(0);
  });

  it("exchanges a code once for concurrent requests", async () => {
    const { address, ended } = await setup();
    const back = await agree(address);
    const before = exchanges();
    const responses = await Promise.all([fetch(back), fetch(back)].map((each) => each.catch(() => null)));
    expect(responses[0]?.status).toBe(200);
    expect((await ended).code).toBe(0);
    expect(exchanges() - before).toBe(1);
  });

  it("explains what to do about a used code, and ends", async () => {
    const { address, ended } = await setup();
    const back = await agree(address);
    const used = `/app-manifests/${back.searchParams.get("code")}/conversions`;
    expect((await world.api("POST", used)).status).toBe(201);
    const page = await fetch(back);
    const { code, output } = await ended;
    expect([page.status, code]).toEqual([502, 1]);
    for (const text of [await page.text(), output]) {
      expect(text).toMatch(/used before, or is older than an hour\. Delete the App/);
    }
    await expect(readFile(envFile)).rejects.toThrow("ENOENT");
  });

  it.each<[string, Fault]>([
    ["does not respond", { kind: "reset" }],
    ["results 502", { kind: "response", status: 502 }],
    ["limits its rate", { kind: "response", status: 429 }],
  ])("keeps the code while the forge %s", async (_what, fault) => {
    const { address, ended } = await setup();
    const back = await agree(address);
    world.forge.control.faults.add({ match: { path: CONVERSION_PATH }, fault });
    const away = await fetch(back);
    expect(away.status).toBe(503);
    expect(await away.text()).toContain("load this page again");
    world.forge.control.reset();
    expect((await fetch(back)).status).toBe(200);
    expect((await ended).code).toBe(0);
  });

  it.each<[string, Fault, number[]]>([
    ["is lost", { kind: "reset", effect: "after" }, [503, 502]],
    ["lacks the key", { kind: "garble", as: "without", fields: ["pem"] }, [502]],
  ])("ends and says what to do if the response %s", async (_what, fault, statuses) => {
    const { address, ended } = await setup();
    const back = await agree(address);
    world.forge.control.faults.add({ match: { path: CONVERSION_PATH }, fault, times: 1 });
    for (const status of statuses) expect((await fetch(back)).status).toBe(status);
    const { code, output } = await ended;
    expect([code, output]).toEqual([1, expect.stringContaining("Delete the App")]);
    expect(await readdir(dir)).toEqual([]);
  });

  it("refuses to start if the file cannot be written", async () => {
    const { address } = await setup(["--file", "missing/.env"]);
    expect(address).toBe("");
    expect((await setup(["--file", "."])).address).toBe("");
  });

  it("ends on a signal without writing the file", async () => {
    const { address, ended, interrupt } = await setup();
    expect((await fetch(address)).status).toBe(200);
    interrupt();
    const { code, output } = await ended;
    expect([code, output.split("\n").at(-1)]).toEqual([1, expect.stringContaining("Nothing was written")]);
    expect(await readdir(dir)).toEqual([]);
    await expect(fetch(address)).rejects.toThrow("fetch failed");
  });

  it("does not end during the exchange", async () => {
    const { address, ended, interrupt } = await setup();
    const back = await agree(address);
    world.forge.control.faults.add({ match: { path: CONVERSION_PATH }, fault: { kind: "delay", ms: 300 } });
    const before = exchanges();
    const result = fetch(back).catch(() => null);
    await eventually(
      () => Promise.resolve(world.forge.control.faults.list()[0]?.hits),
      (hits) => hits === 1,
    );
    interrupt();
    const { code } = await ended;
    expect([code, exchanges() - before]).toEqual([0, 1]);
    expect((await configured()).app.id).toBe(String(world.forge.app.id));
    await result;
  });

  it("refuses a used port, and listens on the loopback address only", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const { address, ended } = await setup(["--port", String(port)]);
    expect(address).toBe("");
    const { code, output } = await ended;
    expect([code, output]).toEqual([1, `Port ${port} is in use. Choose another one with --port.`]);
    await new Promise((resolve) => other.close(resolve));
    const listening = await setup();
    await expect(fetch(listening.address.replace("localhost", "127.0.0.2"))).rejects.toThrow("fetch failed");
  });
});
