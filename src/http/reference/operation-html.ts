import type { ApiResponse, Operation, Parameter } from "./document.ts";
import { html, prose, type Html } from "./html.ts";
import { fieldTable, schemaHtml } from "./schema-html.ts";

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** One call: the required role, parameters, body, example and responses. */
export function operationHtml({ method, path, operation }: Call): Html {
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
    ${role !== undefined && html`<p>Requires ${role === "viewer" ? "any role" : html`the role <code>${role}</code> or higher`}${method !== "get" && html` and the scope <code>write</code>`}.</p> `}${
      parameters.length > 0 &&
      html`<h4>Parameters</h4>
        ${fieldTable(parameters.map(parameterRow), "sent")}`
    }${
      body &&
      html`<h4>Body</h4>
        ${schemaHtml(body, "sent")}`
    }
    ${operation["x-codeSamples"]?.map(
      ({ source }) =>
        html`<h4>Example</h4>
          <pre>${source}</pre>`,
    )}
    <h4>Responses</h4>
    ${Object.entries(responses).map(([status, response]) => responseHtml(status, response))}
  </article> `;
}

const parameterRow = ({ in: place, name, schema, required = false, description = "" }: Parameter) => ({
  name,
  schema,
  isRequired: required,
  description: `In the ${place}. ${description}`.trim(),
});

function responseHtml(status: string, { description, headers = {}, content }: ApiResponse): Html {
  const { schema, example } = content?.["application/json"] ?? {};
  const named = Object.entries(headers).map(([name, header]) => ({ name, isRequired: true, ...header }));
  return html`<details${status.startsWith("2") && html` open`}>
    <summary><b>${status === "default" ? "otherwise" : status}</b> ${prose(description)}</summary>
    ${
      named.length > 0 &&
      html`<h5>Headers</h5>
        ${fieldTable(named, "received")}`
    }
    ${schema ? schemaHtml(schema, "received") : html`<p>No body.</p>`}
    ${example !== undefined && html`<pre>${JSON.stringify(example, null, 2)}</pre>`}
  </details> `;
}
