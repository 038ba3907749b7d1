// Writes console/api/schema.d.ts from openapi.json: `npm run console-types`.
import { readFileSync, writeFileSync } from "node:fs";
import { describeConsoleTypes, type OpenApi } from "./describe-console-types.ts";

const root = new URL("../", import.meta.url);
const openApi = JSON.parse(readFileSync(new URL("openapi.json", root), "utf8")) as OpenApi;
writeFileSync(new URL("console/api/schema.d.ts", root), describeConsoleTypes(openApi));
