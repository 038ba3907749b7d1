import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { isWrite, type Tool } from "./tool.ts";

type Schema = Record<string, unknown>;

/** The tools that replace routes in descriptions. */
const TOOL_NAMES: readonly (readonly [route: string, tool: string])[] = [
  ["GET /v1/board", "get_board"],
  ["GET /v1/projects/{projectId}/flow", "get_board"],
  ["GET /v1/search", "search"],
];

/** A tool as `tools/list` shows it. The JSON Schema is that of the route's zod schemas. */
export function listed(tool: Tool): ListedTool {
  const { name, title, description, isDestructive } = tool;
  return {
    name,
    title,
    description,
    inputSchema: inputSchemaOf(tool),
    annotations: isWrite(tool)
      ? { destructiveHint: isDestructive, idempotentHint: true, openWorldHint: true }
      : { readOnlyHint: true, openWorldHint: true },
  };
}

function inputSchemaOf({ input }: Tool): ListedTool["inputSchema"] {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input", override: shorten });
  return { ...schema, type: "object", additionalProperties: false } as ListedTool["inputSchema"];
}

/** Applies the overrides of the OpenAPI document, and removes what a model does not need. */
function shorten({ jsonSchema }: { jsonSchema: Schema }): void {
  const { override } = jsonSchema;
  delete jsonSchema["override"];
  if (typeof override === "function") (override as (context: { jsonSchema: Schema }) => void)({ jsonSchema });
  if (jsonSchema["format"] !== undefined) delete jsonSchema["pattern"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
  delete jsonSchema["propertyNames"];
  const { description } = jsonSchema;
  if (typeof description === "string")
    jsonSchema["description"] = TOOL_NAMES.reduce(
      (text, [route, tool]) => text.replaceAll(route, tool),
      description,
    );
}
