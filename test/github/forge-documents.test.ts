import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { buildSchema, introspectionFromSchema, isObjectType, parse, printSchema, validate } from "graphql";
import { DOCUMENTS } from "../../src/forge/github/graphql-documents.ts";
import { inspection } from "../../src/forge/github/pull-requests/inspect-query.ts";
import { documentOf } from "../../src/forge/github/repository-questions.ts";
import { OPTIONAL_FIELDS, withoutOptionalFields } from "../../src/forge/github/calls/unknown-fields.ts";
import { githubSchema } from "../../sandbox/forge/graphql/serve-graphql.ts";
import { type GitHubDouble, openGitHubDouble } from "../support/forge/github-double.ts";

const schema = githubSchema();
const ADAPTER = join(import.meta.dirname, "../../src/forge/github");

test.each(Object.entries(DOCUMENTS))("the document for %s fits GitHub's schema", (_, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([]);
});

describe("without the fields that a server may lack", () => {
  const text = OPTIONAL_FIELDS.reduce(
    (text, field) => text.replace(new RegExp(`^ +${field.split(".")[1]}:.*$`, "m"), ""),
    printSchema(schema),
  );
  const older = buildSchema(text);
  const fits = (document: string) => validate(older, parse(document)).map(({ message }) => message);

  test.each(OPTIONAL_FIELDS)("%s is a field of no other type", (field) => {
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const [, name = ""] = field.split(".");
    const having = types.filter((type) => name in type.getFields());
    expect(having.map((type) => `${type.name}.${name}`)).toEqual([field]);
  });

  test.each(Object.entries(DOCUMENTS))("the document for %s fits an older schema", (_, document) => {
    expect(fits(withoutOptionalFields(document, OPTIONAL_FIELDS) ?? document)).toEqual([]);
  });

  test.each([
    [
      "a variable",
      "query A($id: ID!, $b: Boolean!) { node(id: $id) { id ...P } } fragment P on PullRequest { id isInMergeQueue @include(if: $b) }",
    ],
    [
      "a fragment",
      "query A($id: ID!) { node(id: $id) { id ...P } } fragment P on PullRequest { isInMergeQueue }",
    ],
    [
      "an inline fragment",
      "query A($id: ID!) { node(id: $id) { id ... on PullRequest { isInMergeQueue } } }",
    ],
    [
      "a fragment of a fragment",
      "query A($id: ID!) { node(id: $id) { id ...P } } fragment P on PullRequest { ...Q } fragment Q on PullRequest { isInMergeQueue }",
    ],
    [
      "a field",
      "query A($id: ID!, $b: ID!) { node(id: $id) { id } other: node(id: $b) { ... on PullRequest { isInMergeQueue } } }",
    ],
  ])("a document has no unused part: %s", (_, document) => {
    expect(fits(document)).not.toEqual([]);
    const reduced = withoutOptionalFields(document, OPTIONAL_FIELDS) ?? "";
    expect(fits(reduced)).toEqual([]);
    expect(reduced).toContain("node(id: $id)");
    expect(reduced).not.toMatch(/\$b|isInMergeQueue|\.\.\.Q|other/);
  });
});

test("the documents are all that the adapter has", () => {
  const files = readdirSync(ADAPTER, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const source = files.map((file) => readFileSync(join(ADAPTER, file), "utf8")).join("\n");
  const written = [
    ...source.matchAll(/\b(?:query|mutation) ([A-Z][A-Za-z]+)\b(?!\$)/g),
    ...source.matchAll(/\boperation: "(\w+)"/g),
  ].map(([, name]) => name);
  const listed = Object.values(DOCUMENTS).join("\n");
  const missing = written.filter((name) => !new RegExp(`(query|mutation) ${name}`).test(listed));
  expect(missing).toEqual([]);
});

test("every variable of an inspection is declared and given", () => {
  const repository = { installationId: 7, forgeId: 42, fullName: "acme/web" };
  const both = { repository, branchName: "x", targetBranch: "main" };
  const questions = [both, { ...both, targetBranch: null }, { ...both, branchName: null }];
  const { document, variables } = documentOf(inspection(), questions);
  const declared = [...document.matchAll(/\$(\w+): String!/g)].map(([, name]) => name);
  expect(new Set(declared)).toEqual(new Set(Object.keys(variables)));
});

describe("what a server's GraphQL API lacks", () => {
  let github: GitHubDouble;
  beforeEach(() => {
    github = openGitHubDouble({ baseUrl: "https://github.example.com/api/v3" });
  });
  afterEach(() => github.done());

  test("is nothing on GitHub.com", async () => {
    github.on("POST", "/graphql", 200, { data: introspectionFromSchema(schema) });
    expect(await github.forge.graphqlGaps(7)).toEqual([]);
  });

  test("is named by field and type", async () => {
    const text = printSchema(schema)
      .replace(/^ +isInMergeQueue:.*$/m, "")
      .replace(/^ +enqueuePullRequest\(.*$/m, "");
    github.on("POST", "/graphql", 200, { data: introspectionFromSchema(buildSchema(text)) });
    expect(await github.forge.graphqlGaps(7)).toEqual([
      expect.stringContaining('Cannot query field "enqueuePullRequest" on type "Mutation".'),
      expect.stringContaining('Cannot query field "isInMergeQueue" on type "PullRequest".'),
    ]);
  });

  test("is everything where it is not found, which is an outage and not a refusal", async () => {
    github.on("POST", "/graphql", 404, { message: "Not Found" });
    expect(await github.forge.graphqlGaps(7)).toBeNull();
    github.on("POST", "/graphql", 404, { message: "Not Found" });
    const question = { repository: { installationId: 7, forgeId: 42, fullName: "acme/web" } };
    await expect(
      github.forge.inspect([{ ...question, branchName: null, targetBranch: null }]),
    ).rejects.toMatchObject({
      name: "ForgeUnavailable",
      message: "GitHub has no GraphQL API at this address",
    });
  });
});
