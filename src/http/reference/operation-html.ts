import type { ApiDocument, ApiResponse, Operation, Parameter } from "./document.ts";
import { exampleOf } from "./example.ts";
import { html, prose, type Html } from "./html.ts";
import { fieldTable, schemaHtml } from "./schema-html.ts";

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Explained once, among the schemas. */
const PROBLEM = "#/components/schemas/Problem";

/** Everything about one call: who may make it, what it takes and gives, and an example of both. */
export function operationHtml(document: ApiDocument, call: Call): Html {
  const { method, path, operation } = call;
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const role = operation["x-role"];
  const body = requestBody?.content["application/json"].schema;
  return html`<article id="${operationId}">
    <h3>${summary}</h3>
    <p class="call">
      <b class="${method}">${method.toUpperCase()}</b> <code>${path}</code>
      <a href="#${operationId}" aria-label="Link to ${summary}">#</a>
    </p>
    ${description !== undefined && html`<p>${prose(description)}</p>`}
    ${role !== undefined && html`<p>For ${role === "viewer" ? "every role" : html`the role <code>${role}</code> and above`}${method !== "get" && html`, with the scope <code>write</code>`}.</p> `}${
      parameters.length > 0 &&
      html`<h4>Parameters</h4>
        ${fieldTable(parameters.map(parameterRow), "sent")}`
    }${
      body &&
      html`<h4>Body</h4>
        ${schemaHtml(body, "sent")}`
    }
    <h4>Example</h4>
    <pre>${curl(document, call)}</pre>
    <h4>Answers</h4>
    ${Object.entries(responses).map(([status, response]) => answerHtml(document, status, response))}
  </article> `;
}

const parameterRow = ({ in: place, name, schema, required = false, description = "" }: Parameter) => ({
  name,
  schema,
  isRequired: required,
  description: `In the ${place}. ${description}`.trim(),
});

function answerHtml(
  document: ApiDocument,
  status: string,
  { description, headers = {}, content }: ApiResponse,
): Html {
  const schema = content?.["application/json"].schema;
  const isUsual = status === "200" || status === "201";
  const named = Object.entries(headers).map(([name, header]) => ({ name, isRequired: true, ...header }));
  return html`<details${status.startsWith("2") && html` open`}>
    <summary><b>${status === "default" ? "otherwise" : status}</b> ${prose(description)}</summary>
    ${
      named.length > 0 &&
      html`<h5>Headers</h5>
        ${fieldTable(named, "answered")}`
    }
    ${schema ? schemaHtml(schema, "answered") : html`<p>No body.</p>`}
    ${schema && schema.$ref !== PROBLEM && html`<pre>${JSON.stringify(exampleOf(document, schema, isUsual), null, 2)}</pre>`}
  </details> `;
}

/** The call as it is made on the command line, its parameters filled in. */
function curl(document: ApiDocument, { method, path, operation }: Call): string {
  const { parameters = [], requestBody } = operation;
  const filled = (parameter: Parameter): string =>
    String(exampleOf(document, parameter.schema, true, parameter.name));
  const place = parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((address, parameter) => address.replace(`{${parameter.name}}`, filled(parameter)), path);
  const body = requestBody?.content["application/json"].schema;
  return [
    `curl${method === "get" ? "" : ` -X ${method.toUpperCase()}`} "$TRUNKLINE${place}"`,
    `-H "Authorization: Bearer $API_KEY"`,
    ...(method === "get" ? [] : [`-H "Idempotency-Key: $(uuidgen)"`]),
    ...(body
      ? [
          `-H "Content-Type: application/json"`,
          `-d '${JSON.stringify(exampleOf(document, body, true)).replaceAll("'", String.raw`'\''`)}'`,
        ]
      : []),
  ].join(" \\\n  ");
}
