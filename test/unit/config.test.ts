import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { ConfigError, readConfig } from "../../src/config.ts";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";

type Env = Readonly<Record<string, string | undefined>>;

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pkcs1 = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
const pkcs8 = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const oneLine = pkcs1.replaceAll("\n", "\\n");

const real: Env = {
  NODE_ENV: "production",
  APP_ID: "42",
  PRIVATE_KEY: oneLine,
  WEBHOOK_SECRET: "a1b2c3d4e5f6".repeat(3),
  DATABASE_URL: "postgres://trunkline:secret@db:5432/trunkline",
};

const files: Readonly<Record<string, string>> = {
  "/run/secrets/app.pem": pkcs8,
  "/run/secrets/other": "no key",
};
const readFile = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw new Error(`no such file, open '${path}'`);
  return text;
};
const read = (env: Env) => readConfig(env, "/srv/trunkline", readFile);

/** The reported problems. */
function problemsOf(env: Env): readonly string[] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const DEFAULTS = {
  host: "127.0.0.1",
  port: 3000,
  logLevel: "info",
  limits: DEFAULT_LIMITS,
  connections: { keepAliveMs: 75_000, maxConnections: 4_096 },
  claimsPerCredential: 3,
  console: { publicUrl: null, idleMs: 28_800_000 },
};
const SANDBOX_DEFAULTS = {
  ...DEFAULTS,
  mode: "sandbox",
  webhookAddresses: ["127.0.0.0/8", "::1/128"],
  dataDir: "/srv/trunkline/.trunkline",
  forgePort: 3001,
  databaseUrl: null,
};

describe("an empty environment", () => {
  it("starts the sandbox on its default ports, with its state in .trunkline", () => {
    expect(read({})).toEqual(SANDBOX_DEFAULTS);
  });

  it("can have settings of the sandbox; empty ones count as missing", () => {
    const env = { PORT: "0", HOST: "::1", SANDBOX_FORGE_PORT: "4001", TRUNKLINE_DATA_DIR: "/var/t" };
    expect(read({ ...env, LOG_LEVEL: "", APP_ID: "", DATABASE_URL: "" })).toEqual({
      ...SANDBOX_DEFAULTS,
      host: "::1",
      port: 0,
      dataDir: "/var/t",
      forgePort: 4001,
    });
  });

  it("with an invalid PUBLIC_URL does not start the sandbox", () => {
    expect(problemsOf({ PUBLIC_URL: "trunkline.example.com" })).toEqual([
      expect.stringContaining("PUBLIC_URL must be the URL of the service"),
    ]);
  });

  it("does not start the sandbox in production; all missing settings are reported", () => {
    const problems = problemsOf({ NODE_ENV: "production" });
    expect(problems).toHaveLength(4);
    for (const name of ["APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET", "DATABASE_URL"]) {
      expect(problems.join("\n")).toContain(name);
    }
  });

  it.each(["APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET"])(
    "with only %s does not start the sandbox; the other settings are required",
    (name) => {
      expect(problemsOf({ [name]: real[name] ?? "/run/secrets/key.pem" }).length).toBeGreaterThan(0);
    },
  );
});

describe("a configured App and database", () => {
  it("are sufficient", () => {
    expect(read(real)).toEqual({
      ...DEFAULTS,
      mode: "github",
      console: {
        ...DEFAULTS.console,
        forgeUrl: "https://github.com",
        clientId: null,
        clientSecret: null,
        isSandbox: false,
      },
      webhookAddresses: [],
      databaseUrl: real["DATABASE_URL"],
      app: { id: "42", privateKey: pkcs1 },
      webhookSecrets: [real["WEBHOOK_SECRET"]],
      apiUrl: "https://api.github.com",
      metricsToken: null,
      drainSeconds: 5,
      retention: { deliveryDays: 30, historyDays: 90, auditDays: 400 },
    });
  });

  it("let people sign in to the console", () => {
    const access = { CLIENT_ID: "Iv1.a", CLIENT_SECRET: "s", GHE_HOST: "github.example.com" };
    const config = read({ ...real, ...access, PUBLIC_URL: "https://t.example.com/" });
    expect(config.console).toMatchObject({
      publicUrl: "https://t.example.com",
      forgeUrl: "https://github.example.com",
      clientId: "Iv1.a",
      clientSecret: "s",
    });
  });

  it("let webhooks reach the ranges of addresses that are set", () => {
    const { webhookAddresses } = read({ ...real, WEBHOOK_ALLOWED_ADDRESSES: "10.0.0.0/8, fd00::/8," });
    expect(webhookAddresses).toEqual(["10.0.0.0/8", "fd00::/8"]);
  });

  it.each(["APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET", "DATABASE_URL"])(
    "do not start without %s, the only reported problem",
    (name) => {
      const problems = problemsOf({ ...real, [name]: undefined });
      expect(problems).toEqual([expect.stringContaining(name)]);
      expect(problemsOf({ ...real, [name]: "" })).toEqual(problems);
    },
  );

  it.each<[string, string]>([
    ["PORT", "http"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "30.5"],
    ["PORT", "0x50"],
    ["PORT", " "],
    ["SANDBOX_FORGE_PORT", "x"],
    ["LOG_LEVEL", "verbose"],
    ["LOG_FORMAT", "text"],
    ["WEBHOOK_ALLOWED_ADDRESSES", "10.0.0.1"],
    ["WEBHOOK_ALLOWED_ADDRESSES", "10.0.0.0/33"],
    ["WEBHOOK_ALLOWED_ADDRESSES", "10.0.0.0/8, intranet"],
    ["LOG_LEVEL", "INFO"],
    ["WEBHOOK_SECRET", "development"],
    ["WEBHOOK_SECRET_PREVIOUS", "development"],
    ["DATABASE_URL", "localhost:5432/trunkline"],
    ["DATABASE_URL", "mysql://db/trunkline"],
    ["GHE_HOST", "https://github.example.com"],
    ["GHE_HOST", "github.example.com/api/v3"],
    ["GHE_HOST", "github.example.com:123456"],
    ["APP_ID", "trunkline"],
    ["METRICS_TOKEN", "short"],
    ["METRICS_TOKEN", "with a space in the middle"],
    ["DRAIN_SECONDS", "-1"],
    ["DRAIN_SECONDS", "301"],
    ["CALLS_AT_ONCE", "0"],
    ["CALLS_PER_SECOND", "1000001"],
    ["CLAIMS_PER_CREDENTIAL", "0"],
    ["BOARD_CALLS_AT_ONCE", "0"],
    ["BOARD_CALLS_WAITING", "x"],
    ["RETAIN_DELIVERIES_DAYS", "3"],
    ["RETAIN_HISTORY_DAYS", "for ever"],
    ["RETAIN_AUDIT_DAYS", "3"],
    ["PUBLIC_URL", "trunkline.example.com"],
    ["PUBLIC_URL", "localhost:3000"],
    ["PUBLIC_URL", "ftp://trunkline.example.com"],
    ["PUBLIC_URL", "https://"],
    ["PUBLIC_URL", " https://trunkline.example.com"],
    ["PUBLIC_URL", "https://ada:hunter2@trunkline.example.com"],
    ["PUBLIC_URL", "https://trunkline.example.com/?board=1"],
    ["PUBLIC_URL", "https://trunkline.example.com/#top"],
    ["PUBLIC_URL", "https://trunkline.example.com:99999"],
    ["PRIVATE_KEY", "not a key"],
    ["PRIVATE_KEY", "-----BEGIN RSA PRIVATE KEY-----"],
    ["PRIVATE_KEY", Buffer.from("not a key").toString("base64")],
  ])("%s as `%s` is reported as the only problem", (name, value) => {
    expect(problemsOf({ ...real, [name]: value })).toEqual([expect.stringContaining(name)]);
  });

  it("GHE_PROTOCOL other than http and https is a problem", () => {
    const env = { ...real, GHE_HOST: "github.example.com", GHE_PROTOCOL: "ftp" };
    expect(problemsOf(env)).toEqual([expect.stringContaining("GHE_PROTOCOL")]);
  });

  it.each([
    "https://trunkline.example.com",
    "http://127.0.0.1:3000/",
    "https://example.com/trunkline",
    "https://[::1]:3000",
  ])("PUBLIC_URL may be %s, also in the sandbox", (PUBLIC_URL) => {
    expect([...problemsOf({ ...real, PUBLIC_URL }), ...problemsOf({ PUBLIC_URL })]).toEqual([]);
  });

  it.each([
    ["CALLS_AT_ONCE", "callsAtOnce"],
    ["CALLS_PER_SECOND", "callsPerSecond"],
    ["BOARD_CALLS_AT_ONCE", "boardCallsAtOnce"],
    ["BOARD_CALLS_WAITING", "boardCallsWaiting"],
    ["FAILED_KEYS_PER_MINUTE", "failedKeysPerMinute"],
    ["STORED_RESPONSES_MB", "storedMegabytesPerDay"],
  ] as const)("%s may be set to its default", (name, limit) => {
    expect(problemsOf({ ...real, [name]: String(DEFAULT_LIMITS[limit]) })).toEqual([]);
  });

  it("the value of an invalid setting is not part of the message", () => {
    const problems = problemsOf({ ...real, PRIVATE_KEY: pkcs1.slice(0, 400), DATABASE_URL: "db:hunter2@x" });
    expect(problems).toHaveLength(2);
    expect(problems.join("\n")).not.toContain("hunter2");
    expect(problems.join("\n")).not.toContain(pkcs1.slice(100, 130));
  });

  it.each([
    ["a PKCS#1 PEM as GitHub creates it", pkcs1, pkcs1],
    ["a PKCS#8 PEM", pkcs8, pkcs8],
    ["a PEM with escaped line breaks", oneLine, pkcs1],
    ["a PEM in base64", Buffer.from(pkcs8).toString("base64"), pkcs8],
  ])("the private key may be %s", (_, given, pem) => {
    expect(read({ ...real, PRIVATE_KEY: given })).toMatchObject({ app: { privateKey: pem } });
  });

  it.each([undefined, ""])("the private key may be in a file, with PRIVATE_KEY %j", (PRIVATE_KEY) => {
    expect(read({ ...real, PRIVATE_KEY, PRIVATE_KEY_PATH: "/run/secrets/app.pem" })).toMatchObject({
      app: { privateKey: pkcs8 },
    });
  });

  it("the private key may be in PRIVATE_KEY, with an empty PRIVATE_KEY_PATH", () => {
    expect(read({ ...real, PRIVATE_KEY_PATH: "" })).toMatchObject({ app: { privateKey: pkcs1 } });
  });

  it.each(["/run/secrets/app.pem", "/run/secrets/missing"])(
    "PRIVATE_KEY and PRIVATE_KEY_PATH %s together are refused, and the message says which to remove",
    (PRIVATE_KEY_PATH) => {
      const problems = problemsOf({ ...real, PRIVATE_KEY_PATH });
      expect(problems).toEqual([
        expect.stringMatching(
          /^PRIVATE_KEY and PRIVATE_KEY_PATH are both set\..* remove PRIVATE_KEY .* or remove PRIVATE_KEY_PATH /,
        ),
      ]);
      expect(problemsOf({ ...real, PRIVATE_KEY_PATH, APP_ID: "" })).toHaveLength(2);
    },
  );

  it.each(["/run/secrets/other", "/run/secrets/missing"])(
    "an invalid key in the file %s is reported without its content",
    (path) => {
      const problems = problemsOf({ ...real, PRIVATE_KEY: undefined, PRIVATE_KEY_PATH: path });
      expect(problems).toEqual([expect.stringContaining(path)]);
      expect(problems.join()).not.toContain("no key");
    },
  );

  it("metrics, shutdown and retention follow their settings", () => {
    const env = { METRICS_TOKEN: "0123456789abcdef", DRAIN_SECONDS: "0", RETAIN_DELIVERIES_DAYS: "4" };
    const days = { RETAIN_HISTORY_DAYS: "365", RETAIN_AUDIT_DAYS: "30" };
    expect(read({ ...real, ...env, ...days })).toMatchObject({
      metricsToken: "0123456789abcdef",
      drainSeconds: 0,
      retention: { deliveryDays: 4, historyDays: 365, auditDays: 30 },
    });
  });

  it.each(["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"])(
    "%s has at least 32 characters; otherwise the message says how to generate one",
    (name) => {
      const message = `${name} must have at least 32 characters. Generate one with \`openssl rand -hex 32\`, and set it in the App too.`;
      expect(problemsOf({ ...real, [name]: "x".repeat(31) })).toEqual([message]);
      expect(read({ ...real, [name]: "x".repeat(32) }).mode).toBe("github");
    },
  );

  it("both webhook secrets apply during a rotation, the new one first", () => {
    const before = "b".repeat(32);
    expect(read({ ...real, WEBHOOK_SECRET_PREVIOUS: before })).toMatchObject({
      webhookSecrets: [real["WEBHOOK_SECRET"], before],
    });
  });

  it.each<[Env, string]>([
    [{ GHE_HOST: "github.example.com" }, "https://github.example.com/api/v3"],
    [{ GHE_HOST: "127.0.0.1:3001", GHE_PROTOCOL: "http" }, "http://127.0.0.1:3001/api/v3"],
  ])("%j is GitHub Enterprise Server at %s", (env, apiUrl) => {
    expect(read({ ...real, ...env })).toMatchObject({ apiUrl });
  });

  it("HOST and PORT apply in development too", () => {
    const env = { ...real, NODE_ENV: "development", HOST: "0.0.0.0", PORT: "8080" };
    expect(read(env)).toMatchObject({ mode: "github", host: "0.0.0.0", port: 8080 });
  });
});
