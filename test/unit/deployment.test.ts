/** Compares the deployment files with the settings that the service reads. */
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseEnv, promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { parse, parseAllDocuments } from "yaml";
import { writeAppSettings } from "../../src/cli/setup/env-file.ts";
import { readConfig, type GitHubConfig } from "../../src/config.ts";
import { environmentOfStage, readDockerfile, theOnly } from "../support/processes/image.ts";

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const PEM = generateKeyPairSync("rsa", { modulusLength: 2_048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
/** The seconds between the end of the drain and the exit: time for running calls and jobs. */
const AFTER_DRAIN = 30;

/** The names of all settings that the service reads. */
function settingsRead(env: Readonly<Record<string, string>>): Set<string> {
  const read = new Set<string>();
  const recording = new Proxy(env, {
    get: (target, name) => {
      read.add(String(name));
      return Reflect.get(target, name) as string | undefined;
    },
  });
  readConfig(recording, "/nowhere", () => PEM);
  return read;
}

const REAL = {
  NODE_ENV: "production",
  APP_ID: "1",
  WEBHOOK_SECRET: "a-webhook-secret-made-for-a-test",
  DATABASE_URL: "postgres://trunkline:x@db/trunkline",
  PRIVATE_KEY_PATH: "/key.pem",
  GHE_HOST: "github.example.com",
};
const KNOWN = settingsRead(REAL);

/** The settings of a service that would start. Throws if one is invalid or unknown. */
function started(env: Readonly<Record<string, string>>): { config: GitHubConfig; unread: string[] } {
  const config = readConfig(env, "/nowhere", (path) => {
    if (path !== env["PRIVATE_KEY_PATH"]) throw new Error(`no such file: ${path}`);
    return PEM;
  });
  if (config.mode !== "github") throw new Error("this environment starts a sandbox");
  return { config, unread: Object.keys(env).filter((name) => !KNOWN.has(name)) };
}

/** Values for the settings that an operator must fill in. */
const FILLED_IN: Readonly<Record<string, string>> = {
  APP_ID: "1",
  WEBHOOK_SECRET: "a-webhook-secret-made-for-a-test",
  POSTGRES_PASSWORD: "letters0and1digits",
  SERVICE_PASSWORD: "other2letters3and4digits",
  METRICS_TOKEN: "0123456789abcdef",
  DATABASE_URL: REAL.DATABASE_URL,
};

const imageEnvironment = async (): Promise<Record<string, string>> =>
  environmentOfStage((await readDockerfile()).at(-1) ?? { from: "", name: null, instructions: [] });

interface Compose {
  readonly services: Readonly<
    Record<
      "trunkline" | "migrate" | "grants" | "postgres",
      {
        readonly environment: Readonly<Record<string, string>>;
        readonly env_file?: string;
        readonly ports?: readonly string[];
        readonly secrets?: readonly string[];
        readonly stop_grace_period: string;
        readonly healthcheck?: { readonly test: readonly string[] };
        readonly image?: string;
        readonly command?: readonly string[];
        readonly volumes?: readonly string[];
        readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
      }
    >
  >;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

interface Container {
  readonly command: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly envFrom?: readonly object[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}

interface Template {
  readonly metadata: { readonly labels: object };
  readonly spec: Pod;
}

interface Policy {
  readonly podSelector: { readonly matchLabels: object };
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
  readonly egress: readonly {
    readonly to: readonly {
      readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
    }[];
  }[];
}

describe("docs/operating.md", () => {
  const [, guide = ""] = textOf("docs/operating.md").split("\n## Settings\n");
  const [section = ""] = guide.split("\n## ");
  const rows = [...section.matchAll(/^\| `([A-Z_]+)` +\| (\S+) /gm)].map(([, name = "", value = ""]) => ({
    name,
    value,
  }));

  it("has a row for each setting that the service reads, and no other", () => {
    const read = new Set([...KNOWN, ...settingsRead({})]);
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...read].toSorted());
  });

  it("has the default of each setting", () => {
    const defaults = rows.filter(({ value }) => value.startsWith("`"));
    expect(defaults.length).toBeGreaterThan(10);
    for (const env of [REAL, {}]) {
      const given = defaults.map(({ name, value }) => [name, value.replaceAll("`", "")]);
      const config = (settings: object) => readConfig({ ...env, ...settings }, "/nowhere", () => PEM);
      expect(config(Object.fromEntries(given))).toEqual(config({}));
    }
  });

  it("names the required settings", () => {
    const required = rows.filter(({ value }) => value === "required").map(({ name }) => name);
    expect(required.toSorted()).toEqual(["APP_ID", "DATABASE_URL", "PRIVATE_KEY", "WEBHOOK_SECRET"]);
    for (const name of required) {
      const env = { ...REAL, PRIVATE_KEY_PATH: "", PRIVATE_KEY: PEM };
      expect(() => readConfig({ ...env, [name]: "" }, "/nowhere")).toThrow(name);
    }
  });
});

describe("the Dockerfile", () => {
  it("starts from one image that can be pinned, not as root, with known settings", async () => {
    const stages = await readDockerfile();
    expect(new Set(stages.map(({ from }) => from))).toEqual(new Set(["node:24-slim"]));
    expect(textOf("Dockerfile").match(/^FROM (\S+)/gm)).toEqual(stages.map(() => "FROM ${NODE_IMAGE}"));
    const image = stages.at(-1);
    if (!image) throw new Error("the Dockerfile has no FROM");
    const env = environmentOfStage(image);
    expect(theOnly(image, "USER")).toBe("node");
    expect(theOnly(image, "EXPOSE")).toBe(env["PORT"]);
    expect(Object.keys(env).filter((name) => !KNOWN.has(name))).toEqual([]);
    expect(started({ ...REAL, ...env }).config).toMatchObject({ host: "0.0.0.0", port: 3_000 });
  });
});

describe("compose.yaml", () => {
  const { services, secrets } = parse(textOf("compose.yaml")) as Compose;
  const example = textOf("deploy/trunkline.env.example")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

  it("starts a service when the example's settings are filled in", async () => {
    expect(example.filter((line) => !/^[A-Z_]+=$/.test(line))).toEqual([]);
    const filledIn = Object.fromEntries(
      example.map((line) => [line.slice(0, -1), FILLED_IN[line.slice(0, -1)] ?? ""]),
    );
    const own = Object.entries(services.trunkline.environment).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, each: string) => filledIn[each] ?? ""),
    ]);
    const env = { ...(await imageEnvironment()), ...filledIn, ...Object.fromEntries(own) };
    const { config, unread } = started(env);
    // These belong to PostgreSQL; the second one is also part of DATABASE_URL.
    expect(unread).toEqual(["POSTGRES_PASSWORD", "SERVICE_PASSWORD"]);
    expect(config.databaseUrl).toBe(
      "postgres://trunkline_service:other2letters3and4digits@postgres:5432/trunkline",
    );
    expect(services.trunkline.ports).toEqual([`127.0.0.1:3000:${config.port}`]);
    expect(parseInt(services.trunkline.stop_grace_period)).toBeGreaterThan(config.drainSeconds + AFTER_DRAIN);
  });

  it("starts the service with a role that is not the owner, after migrations and grants", () => {
    const { trunkline, migrate, grants, postgres } = services;
    const owner = postgres.environment["POSTGRES_USER"];
    expect(new URL(migrate.environment["DATABASE_URL"]?.replace(/\$\{.*?\}/, "x") ?? "").username).toBe(
      owner,
    );
    expect(migrate.command?.slice(-1)).toEqual(["migrate"]);
    expect(grants.environment["PGUSER"]).toBe(owner);
    expect(trunkline.environment["POSTGRES_PASSWORD"]).toBe("");
    expect([trunkline, migrate, grants].map((each) => each.depends_on)).toEqual([
      { grants: { condition: "service_completed_successfully" } },
      { postgres: { condition: "service_healthy" } },
      { migrate: { condition: "service_completed_successfully" } },
    ]);
    const mounted = (grants.volumes ?? []).map((volume) => volume.split(":"));
    const files = (grants.command ?? []).flatMap((word) => /^--file=(.*)$/.exec(word)?.[1] ?? []);
    expect(mounted.map(([, path]) => path)).toEqual(files);
    const scripts = mounted.map(([path = ""]) => textOf(path));
    expect(scripts).toEqual([
      expect.stringMatching(/alter role trunkline_service login nosuperuser /),
      expect.stringMatching(/^grant .* to trunkline_service;$/m),
    ]);
  });

  it("reads the key that `setup` wrote only after the guide's commands have moved it", async () => {
    const dir = await mkdtemp(join(tmpdir(), "trunkline-compose-"));
    const file = join(dir, "deploy/trunkline.env");
    try {
      await mkdir(dirname(file));
      await writeFile(file, textOf("deploy/trunkline.env.example"), { mode: 0o600 });
      const app = { id: 7, privateKey: PEM, webhookSecret: REAL.WEBHOOK_SECRET, pageUrl: "" };
      const oauth = { clientId: "Iv23liabc", clientSecret: "a-client-secret" };
      await writeAppSettings(file, { ...app, ...oauth }, "https://trunkline.example.com");
      const keyFile = join(dir, secrets["app_key"]?.file ?? "");
      const start = async () => {
        const settings = parseEnv(await readFile(file, "utf8")) as Record<string, string>;
        return readConfig({ ...REAL, ...settings, PRIVATE_KEY_PATH: keyFile }, dir);
      };
      await expect(start()).rejects.toThrow("remove PRIVATE_KEY");
      const [, section = ""] = textOf("docs/operating.md").split("\n### Docker Compose\n");
      const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
      const moveKey = blocks.find((block) => block.includes("app-key.pem")) ?? "";
      await promisify(execFile)("bash", ["-euo", "pipefail", "-c", moveKey], { cwd: dir });
      expect(await start()).toMatchObject({ app: { id: "7", privateKey: PEM } });
      expect((await readdir(join(dir, "deploy"))).toSorted()).toEqual(["app-key.pem", "trunkline.env"]);
      for (const each of [file, keyFile]) expect((await stat(each)).mode & 0o777).toBe(0o600);
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it("mounts the key where the service reads it, and keeps it out of the build context", () => {
    const [secret = ""] = services.trunkline.secrets ?? [];
    expect(services.trunkline.environment["PRIVATE_KEY_PATH"]).toBe(`/run/secrets/${secret}`);
    expect(secrets[secret]?.file).toBe("deploy/app-key.pem");
    expect(textOf(".gitignore")).toContain("deploy/*.pem");
    expect(services.trunkline.env_file).toBe("deploy/trunkline.env");
    expect(textOf(".gitignore")).toContain("deploy/trunkline.env");
  });
});

describe("deploy/kubernetes.yaml", () => {
  const text = textOf("deploy/kubernetes.yaml");
  const documents = parseAllDocuments(text).map(
    (each) => each.toJS() as { kind: string; metadata: { name: string }; spec: Record<string, unknown> },
  );
  const specOf = (kind: string, name = "trunkline"): unknown => {
    const found = documents.find((each) => each.kind === kind && each.metadata.name === name);
    if (!found) throw new Error(`there is no ${kind} ${name}`);
    return found.spec;
  };
  const { template, replicas } = specOf("Deployment") as {
    replicas: number;
    template: Template;
  };
  const { template: job } = specOf("Job", "trunkline-migrate") as { template: Template };
  const [container] = template.spec.containers;
  const [grants] = job.spec.containers;
  const [migrate] = job.spec.initContainers ?? [];
  if (!migrate) throw new Error("the job has no migrations");

  /** The secret in whose file a path is. */
  const secretOf = ({ volumes }: Pod, { volumeMounts }: Container, path: string): string | undefined => {
    const mount = volumeMounts.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
    return volumes.find(({ name }) => name === mount?.name)?.secret?.secretName;
  };
  /** The file of settings that a container reads. */
  const settingsFileOf = ({ command }: Container): string =>
    /(?:--env-file=|\. )(\/[\w./-]+)/.exec(command.join(" "))?.[1] ?? "";

  it("starts two replicas with known settings", async () => {
    const own = (container.env ?? []).map(({ name, value }) => [name, value ?? ""]);
    const file = Object.entries(FILLED_IN).filter(([name]) => !name.endsWith("_PASSWORD"));
    const { config, unread } = started({
      ...(await imageEnvironment()),
      ...Object.fromEntries(file),
      PRIVATE_KEY: PEM,
      ...(Object.fromEntries(own) as Record<string, string>),
    });
    expect([replicas, unread]).toEqual([2, []]);
    expect(container.ports).toEqual([{ name: "http", containerPort: config.port }]);
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(config.drainSeconds + AFTER_DRAIN);
  });

  it("passes secrets in files, which its first lines create, and in no variable or command", () => {
    const created = [...text.matchAll(/create secret generic ([\w-]+) --from-file=([\w.-]+)$/gm)];
    const files = Object.fromEntries(created.map(([, name = "", file = ""]) => [name, file]));
    for (const [pod, each] of [
      [template.spec, container],
      [job.spec, migrate],
      [job.spec, grants],
    ] as const) {
      const path = settingsFileOf(each);
      expect(path.split("/").at(-1)).toBe(files[secretOf(pod, each, path) ?? ""]);
      expect((each.env ?? []).map(({ name }) => name)).toEqual(each === container ? ["DRAIN_SECONDS"] : []);
      expect(each.envFrom).toBeUndefined();
    }
    expect(text).not.toMatch(/--from-literal|secretKeyRef/);
  });

  it("applies migrations as the owner of the tables, whom the service's pods do not know", () => {
    expect(secretOf(job.spec, migrate, settingsFileOf(migrate))).toBe("trunkline-owner");
    expect(migrate.command.slice(-2)).toEqual(["dist/src/cli/main.js", "migrate"]);
    expect(secretOf(job.spec, grants, settingsFileOf(grants))).toBe("trunkline-owner");
    const created = /create configmap trunkline-sql (.*)$/m.exec(text)?.[1] ?? "";
    const files = [...created.matchAll(/--from-file=deploy\/(\S+)/g)].map(([, name = ""]) => name);
    for (const name of files) expect(textOf(`deploy/${name}`)).toContain("trunkline_service");
    expect([...grants.command.join(" ").matchAll(/--file=\/sql\/(\S+)/g)].map(([, name]) => name)).toEqual(
      files,
    );
    expect(template.spec.volumes.map(({ secret }) => secret?.secretName)).toEqual(["trunkline"]);
    expect(
      /trunkline\.env:.*DATABASE_URL=postgres:\/\/(\w+):/.exec(text.replaceAll(/\n# +/g, " "))?.[1],
    ).toBe("trunkline_service");
  });

  it("probes the health routes, and runs nothing as root or with a token of the cluster", () => {
    const probeOf = (name: string) => container[`${name}Probe`]?.httpGet;
    expect(["startup", "liveness", "readiness"].map(probeOf)).toEqual([
      { path: "/healthz", port: "http" },
      { path: "/healthz", port: "http" },
      { path: "/readyz", port: "http" },
    ]);
    for (const { spec } of [template, job]) {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1_000 });
    }
    for (const each of [container, migrate, grants]) {
      expect(each.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  it("lets no pod be reached on another port, or reach private addresses", () => {
    const policies = documents.filter(({ kind }) => kind === "NetworkPolicy");
    const specs = policies.map(({ spec }) => spec as unknown as Policy);
    expect(specs.map(({ podSelector }) => podSelector.matchLabels)).toEqual([
      template.metadata.labels,
      job.metadata.labels,
    ]);
    for (const { policyTypes } of specs) expect(policyTypes).toEqual(["Ingress", "Egress"]);
    const [service, migration] = specs;
    expect(service?.ingress?.map(({ ports }) => ports)).toEqual([
      [{ port: container.ports?.[0]?.containerPort }],
    ]);
    expect(migration?.ingress).toBeUndefined();
    const blocks = specs.flatMap(({ egress }) =>
      egress.flatMap(({ to }) => to.flatMap((each) => each.ipBlock ?? [])),
    );
    const [ipv4, ipv6] = blocks;
    expect([blocks.length, ipv4?.cidr, ipv6]).toEqual([2, "0.0.0.0/0", { cidr: "2000::/3" }]);
    for (const range of ["10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"])
      expect(ipv4?.except).toContain(range);
  });

  it("selects the same pods everywhere", () => {
    const selected = documents.flatMap(({ kind, spec }) => {
      if (kind === "Service") return [spec["selector"]];
      const { matchLabels } = (spec["selector"] ?? {}) as { matchLabels?: object };
      return matchLabels ? [matchLabels] : [];
    });
    expect(selected).toEqual([1, 2, 3].map(() => template.metadata.labels));
  });
});
