// Brings GitHub's published descriptions into the repository, cut down to what Trunkline and its sandbox forge use:
//   test/fixtures/github/rest.json              responses and request bodies of the REST operations
//   test/fixtures/github/webhooks.json          payloads of the webhooks
//   sandbox/forge/graphql/github-schema.graphql  the part of the GraphQL schema that the sandbox forge serves
// The packages are large (385 MB unpacked for REST alone), so they are fetched for this run only. Change a version or one of
// the lists in scripts/github-contract/, then run:
//   node scripts/update-github-contract.mjs [folder with the packages already unpacked as openapi/, openapi-webhooks/, graphql-schema/]
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pruneGraphql } from "./github-contract/graphql.mjs";
import { pruneRest } from "./github-contract/rest.mjs";
import { pruneWebhooks } from "./github-contract/webhooks.mjs";

const PACKAGES = {
  openapi: { version: "23.0.2", file: "generated/api.github.com.json" },
  "openapi-webhooks": { version: "12.1.0", file: "generated/api.github.com.json" },
  "graphql-schema": { version: "15.26.1", file: "schema.graphql" },
};

const root = new URL("..", import.meta.url).pathname;
const given = process.argv[2];
const folder = given ?? mkdtempSync(join(tmpdir(), "github-contract-"));

/** The one file needed of a package, as text; only that file is unpacked. */
function published(name) {
  const { version, file } = PACKAGES[name];
  const target = join(folder, name);
  if (!given) {
    mkdirSync(target, { recursive: true });
    const spec = `@octokit/${name}@${version}`;
    const tarball = execFileSync("npm", ["pack", spec, "--silent"], { cwd: target, encoding: "utf8" }).trim();
    execFileSync("tar", ["-xzf", tarball, "--strip-components=1", `package/${file}`], { cwd: target });
  }
  return { source: `@octokit/${name} ${version}`, text: readFileSync(join(target, file), "utf8") };
}

function write(path, text) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`${path}: ${Math.round(text.length / 1024)} KB`);
}

/** JSON with one operation or shared schema per line, so that a new version of the package reads as a diff. */
function jsonByLine(document) {
  const sections = Object.entries(document).map(([key, value]) => {
    if (typeof value !== "object") return `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
    const lines = Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`);
    return `${JSON.stringify(key)}: {\n${lines.join(",\n")}\n}`;
  });
  return `{\n${sections.join(",\n")}\n}\n`;
}

try {
  const rest = published("openapi");
  write("test/fixtures/github/rest.json", jsonByLine(pruneRest(rest.source, JSON.parse(rest.text))));
  const webhooks = published("openapi-webhooks");
  write(
    "test/fixtures/github/webhooks.json",
    jsonByLine(pruneWebhooks(webhooks.source, JSON.parse(webhooks.text))),
  );
  const graphql = published("graphql-schema");
  const schema = "sandbox/forge/graphql/github-schema.graphql";
  write(schema, pruneGraphql(graphql.source, graphql.text));
  execFileSync(join(root, "node_modules/.bin/oxfmt"), [schema], { cwd: root });
} finally {
  if (!given) rmSync(folder, { recursive: true, force: true });
}
