import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { openApiDocument } from "../../src/http/openapi.ts";
import type { ApiDocument, Schema } from "../../src/http/reference/document.ts";
import { referencePage } from "../../src/http/reference/page.ts";
import { routes } from "../../src/http/v1/routes.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
let response: Response;
let page: string;
beforeAll(async () => {
  response = await fetch(`${world.service.baseUrl}/docs`);
  page = await response.text();
});

const document = JSON.parse(JSON.stringify(openApiDocument(routes))) as ApiDocument;
const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);

/** The text that a browser shows for this HTML. */
const readable = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ");

/** The text of the article with this anchor. */
function articleOf(anchor: string, of = page): string {
  const [article] = new RegExp(`<article id="${anchor}">.*?</article>`, "s").exec(of) ?? [];
  if (article === undefined) throw new Error(`the page has no ${anchor}`);
  return readable(article);
}

/** Elements that are not closed, or closed in the wrong order. */
function unbalanced(markup: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, end, name = "", rest = ""] of markup.matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g)) {
    if (["meta", "link", "br"].includes(name)) continue;
    if (end === "") open.push(name);
    else if (open.pop() !== name) wrong.push(`</${name}${rest}>`);
  }
  return [...wrong, ...open];
}

describe("GET /docs", () => {
  it("returns HTML without an API key", () => {
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.startsWith("<!doctype html>")).toBe(true);
    expect(unbalanced(page)).toEqual([]);
  });

  it("has a policy that permits its own style only: no script, other origin or frame", () => {
    const policy = Object.fromEntries(
      (response.headers.get("content-security-policy") ?? "").split("; ").map((rule) => {
        const [name = "", ...values] = rule.split(" ");
        return [name, values];
      }),
    );
    const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(([, css = ""]) => css);
    const hash = createHash("sha256").update(styles.join("")).digest("base64");
    expect(styles).toHaveLength(1);
    expect(policy).toMatchObject({
      "default-src": ["'none'"],
      "style-src": [`'sha256-${hash}'`],
      "frame-ancestors": ["'none'"],
    });
    expect(policy).not.toHaveProperty("script-src");
    expect(page).not.toMatch(/<script|\son\w+=|\sstyle=/i);
    expect([...page.matchAll(/\s(?:src|href)="([^"#][^"]*)"/g)].map(([, address]) => address)).toEqual([
      "data:,",
      "/v1/openapi.json",
    ]);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("is 304 for its current ETag", async () => {
    const again = await fetch(`${world.service.baseUrl}/docs`, {
      headers: { "if-none-match": response.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });

  it("describes what applies to every call", () => {
    const text = readable(page);
    for (const word of ["Authorization: Bearer <API key>", "X-Service-Workspace", "Idempotency-Key", "Link"])
      expect(text).toContain(word);
  });

  it("has no broken link and no duplicate anchor", () => {
    const anchors = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(anchors).size).toBe(anchors.length);
    expect(links.filter((id) => !anchors.includes(id))).toEqual([]);
    expect(links.length).toBeGreaterThan(calls.length);
  });

  it.each(calls.map((call) => [`${call.method.toUpperCase()} ${call.path}`, call] as const))(
    "shows %s",
    (name, { method, path, operation }) => {
      const article = articleOf(operation.operationId);
      expect(article).toContain(`${name} `);
      expect(article).toContain(operation.summary);
      const { parameters = [], requestBody, responses } = operation;
      for (const parameter of parameters) {
        expect(article).toContain(` ${parameter.name} ${parameter.required === true ? "required " : ""}`);
      }
      const body = requestBody?.content["application/json"].schema;
      for (const field of Object.keys(body?.properties ?? {})) expect(article).toContain(` ${field} `);
      for (const [status, result] of Object.entries(responses)) {
        expect(article).toContain(
          `${status === "default" ? "otherwise" : status} ${result.description.replaceAll("`", " ")}`.slice(
            0,
            20,
          ),
        );
      }
      const filled = path.replaceAll(/\{\w+\}/g, '[^/"{}]+');
      expect(article).toMatch(new RegExp(`curl (-X ${method.toUpperCase()} )?"\\$TRUNKLINE${filled}["?]`));
      expect(page).toContain(`<a href="#${operation.operationId}">`);
    },
  );

  it.each(Object.entries(document.components.schemas))("describes the schema %s", (name, schema) => {
    const article = articleOf(`schema-${name}`);
    const forms = schema.oneOf ?? [schema];
    for (const form of forms) {
      for (const field of Object.keys(form.properties ?? {})) expect(article).toContain(` ${field} `);
    }
  });

  it("gives lengths, ranges, values and whether a field is required", () => {
    const create = articleOf("postCard");
    expect(create).toMatch(/ title string 1 to 500 characters /);
    expect(create).toMatch(/ priority string one of none , low , medium , high , urgent /);
    expect(create).toMatch(/ docIds array of string \(uuid\) at most 100 items /);
    expect(create).toMatch(/ assigneeId string \(uuid\) or null /);
    expect(articleOf("getDocs")).toMatch(/ limit integer 1 to 200 /);
    expect(articleOf("postCardMove")).toMatch(/ index required integer at least 0 /);
    expect(articleOf("schema-Blocked")).toMatch(/ reasons array of BlockedReason /);
    expect(articleOf("schema-TimelineEvent")).toMatch(/ data\.commits\[\]\.title string /);
    expect(articleOf("schema-Problem")).toMatch(/ issues optional array of object /);
  });

  it("gives the role that a call requires", () => {
    expect(articleOf("getDocs")).toContain("Requires any role.");
    expect(articleOf("deleteDoc")).toMatch(/Requires the role member or higher and the scope write/);
    expect(articleOf("deleteLabel")).toMatch(/Requires the role maintainer or higher/);
    expect(articleOf("getMe")).not.toMatch(/Requires/);
  });
});

describe("an example", () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  addFormats.default(ajv);
  ajv.addSchema(document, "api");
  const bodies = calls.flatMap(({ method, path, operation }) => {
    const results = Object.entries(operation.responses).map(
      ([status, result]) => [`${method} ${path} ${status}`, result] as const,
    );
    return [[`the body of ${method} ${path}`, operation.requestBody] as const, ...results].flatMap(
      ([name, part]) => {
        const content = part?.content?.["application/json"];
        return content ? [{ name, ...content }] : [];
      },
    );
  });

  it("exists for every body and every success response", () => {
    const missing = bodies.filter(
      ({ name, example }) => example === undefined && !/ (?!20[01])\w+$/.test(name),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it("of a call has the path of its route", () => {
    for (const { method, path, operation } of calls) {
      const source = operation["x-codeSamples"]?.[0]?.source ?? "";
      const pattern = path.replaceAll(/\{\w+\}/g, "[^/?{}]+");
      expect(source).toMatch(new RegExp(`^curl (-X ${method.toUpperCase()} )?"\\$TRUNKLINE${pattern}[?"]`));
    }
  });

  it.each(bodies.filter(({ example }) => example !== undefined).map((body) => [body.name, body] as const))(
    "of %s matches its schema",
    (_name, { schema, example }) => {
      const pointed = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object;
      const validate = ajv.compile(pointed);
      validate(example);
      expect([example, validate.errors ?? []]).toEqual([example, []]);
    },
  );
});

describe("a document with HTML in every text", () => {
  const evil = `</pre></style>"'><script>alert(1)</script><img src=x onerror=alert(1)>\`&\``;
  const schema: Schema = {
    type: "object",
    description: evil,
    required: [evil],
    properties: {
      [evil]: { type: "string", description: evil, pattern: evil },
      listed: { type: "string", enum: [evil] },
      fixed: { const: evil },
      made: { type: evil, format: evil },
      led: { $ref: `#/components/schemas/${evil}` },
    },
  };
  const hostile = referencePage({
    info: { title: evil, description: evil },
    components: { schemas: { [evil]: schema } },
    paths: {
      [`/v1/${evil}`]: {
        get: {
          operationId: evil,
          summary: evil,
          description: evil,
          tags: [evil],
          "x-role": evil,
          parameters: [{ in: evil, name: evil, description: evil, required: true, schema }],
          "x-codeSamples": [{ source: evil }],
          requestBody: { content: { "application/json": { schema } } },
          responses: {
            "200": {
              description: evil,
              headers: { [evil]: { description: evil, schema } },
              content: { "application/json": { schema, example: { [evil]: evil } } },
            },
          },
        },
      },
    },
  });

  it("is shown as text and creates no element", () => {
    expect(hostile).not.toMatch(/<script|<img/i);
    expect(unbalanced(hostile.replace(/<style>.*?<\/style>/s, ""))).toEqual([]);
    expect(hostile).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    const tags = hostile.replace(/<style>.*?<\/style>/s, "").match(/<[^!][^>]*>/g) ?? [];
    const wellMade = /^<\/?[a-z][a-z0-9]*(?: [a-z-]+(?:="[^"<]*")?)*(?: \/)?>$/;
    expect(tags.filter((tag) => !wellMade.test(tag))).toEqual([]);
    expect(tags.length).toBeGreaterThan(50);
  });
});
