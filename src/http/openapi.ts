import type { RequestHandler } from "express";
import { createDocument, type ZodOpenApiOperationObject } from "zod-openapi";
import { z } from "zod";
import { WORKSPACE_HEADER } from "./resolve.ts";
import { CLAIM_HEADER, CLAIM_TOKEN_PATTERN, isAboutCard } from "./claim-header.ts";
import { etagOf, MATCH_HEADER } from "./etag.ts";
import { KEY_HEADER } from "./idempotency.ts";
import recorded from "./examples.json" with { type: "json" };
import type { Route, RouteDefinition } from "./route.ts";
import { problem } from "./v1/shapes.ts";

/** A call and its responses by status, recorded by `npm run examples`. */
interface Example {
  readonly path: string;
  readonly body?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}
const examples: Readonly<Record<string, Example>> = recorded;

const workspaceHeader = z.object({
  [WORKSPACE_HEADER]: z
    .uuid()
    .optional()
    .meta({ description: "The id of the board; optional if the credential reaches exactly one board" }),
});

const keyHeader = z.object({
  [KEY_HEADER]: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{16,255}$/)
    .meta({ description: "A new key for each request; the same key for its retries" }),
});

const claimHeader = z.object({
  [CLAIM_HEADER]: z.string().regex(new RegExp(CLAIM_TOKEN_PATTERN)).optional().meta({
    description:
      "`<claimId>.<generation>` of your claim: the write renews it, or is refused with `claim_lost` if it is not valid any more",
  }),
});

const replayHeader = z.object({
  "Idempotent-Replay": z
    .literal("true")
    .optional()
    .meta({ description: "Set if this is the stored response to an earlier request with the same key" }),
});

const retryHeader = z.object({
  "Retry-After": z
    .string()
    .regex(/^[0-9]+$/)
    .optional()
    .meta({ description: "Make the same call again after this number of seconds" }),
});

const matchHeader = z.object({
  [MATCH_HEADER]: z.string().optional().meta({
    description:
      "The `ETag` of the read that the change was made to: if it is not current any more, the response is 412 and nothing changes",
  }),
});

const etagHeader = z.object({
  ETag: z
    .string()
    .meta({ description: `The version of the response, which a write takes as ${MATCH_HEADER}` }),
});

/** Generates the OpenAPI 3.1 document from the schemas that validate. */
export function openApiDocument(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const { definition } of routes) {
    paths[definition.path] = { ...paths[definition.path], [definition.method]: operationOf(definition) };
  }
  return createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Trunkline",
        version: "1",
        description:
          "A work board whose cards own Git branches. Moving a card creates its branch, opens its pull request or merges it on GitHub. The pages of the console call the same paths under `/console`, with the session of a person.",
      },
      servers: [{ url: "/", description: "The service that serves this document" }],
      security: [{ apiKey: [] }],
      components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer" } } },
      paths,
    },
    {
      override: ({ jsonSchema }) => {
        if (jsonSchema.format === "uuid") delete jsonSchema.pattern;
      },
    },
  );
}

function operationOf(definition: RouteDefinition): ZodOpenApiOperationObject {
  const { method, path, about, isVersioned = false, params, query, body } = definition;
  const example = examples[`${method.toUpperCase()} ${path}`];
  const isWrite = method !== "get";
  const header = z.object({
    ...workspaceHeader.shape,
    ...(isWrite && keyHeader.shape),
    ...(isWrite && isVersioned && matchHeader.shape),
    ...(isWrite && isAboutCard(path) && claimHeader.shape),
  });
  return {
    operationId: operationIdOf(definition),
    summary: definition.summary,
    ...(definition.description && { description: definition.description }),
    tags: [definition.tag],
    ...(about === "board" && { "x-role": definition.role }),
    ...(example && { "x-codeSamples": [{ lang: "Shell", label: "curl", source: curl(method, example) }] }),
    requestParams: {
      ...(params && { path: params }),
      ...(query && { query }),
      ...(about === "board" && { header }),
    },
    ...(body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: body, ...exampleOf(example?.body) } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(definition.responses).map(
          ([status, { description, schema, headers, contentType = "application/json" }]) => [
            status,
            {
              description,
              ...headersOf([
                headers,
                isVersioned && status === "200" && etagHeader,
                isWrite && status.startsWith("2") && replayHeader,
              ]),
              ...(schema && {
                content: { [contentType]: { schema, ...exampleOf(example?.responses[status]) } },
              }),
            },
          ],
        ),
      ),
      default: {
        description: "The call failed; `message` has the reason and what to do",
        headers: retryHeader,
        content: { "application/json": { schema: problem } },
      },
    },
  };
}

const exampleOf = (value: unknown) => (value === undefined ? {} : { example: value });

/** The call on the command line. */
const curl = (method: string, { path, body }: Example): string =>
  [
    `curl${method === "get" ? "" : ` -X ${method.toUpperCase()}`} "$TRUNKLINE${path}"`,
    `-H "Authorization: Bearer $API_KEY"`,
    ...(method === "get" ? [] : [`-H "Idempotency-Key: $(uuidgen)"`]),
    ...(body === undefined
      ? []
      : [
          `-H "Content-Type: application/json"`,
          `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
        ]),
  ].join(" \\\n  ");

function headersOf(each: readonly (z.ZodObject | false | undefined)[]): { headers?: z.ZodObject } {
  const shapes = each.flatMap((headers) => (headers ? [headers.shape] : []));
  return shapes.length === 0 ? {} : { headers: z.object(Object.assign({}, ...shapes)) };
}

/**
 * For example `postCardMove` for `post /v1/cards/{number}/move`, `postCard` for `post /v1/cards`.
 */
function operationIdOf({ method, path }: RouteDefinition): string {
  const steps = path.split("/").slice(2);
  const names = steps.map((step, at) => {
    if (step.startsWith("{")) return "";
    const name = step.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
    const isOne = steps[at + 1]?.startsWith("{") || (method === "post" && at === steps.length - 1);
    return isOne ? name.replace(/s$/, "") : name;
  });
  return `${method}${names.join("")}`;
}

/** Serves the document. It is serialized on the first request and then kept with its ETag. */
export function serveOpenApi(document: () => object): RequestHandler {
  let served: { readonly body: Buffer; readonly etag: string } | undefined;
  return (_request, response) => {
    if (!served) {
      const body = Buffer.from(JSON.stringify(document()));
      served = { body, etag: etagOf(body.toString()) };
    }
    response.set({ ETag: served.etag, "Cache-Control": "no-cache" }).type("json").send(served.body);
  };
}
