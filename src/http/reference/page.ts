import type { RequestHandler } from "express";
import type { ApiDocument } from "./document.ts";
import { guide } from "./guide.ts";
import { html, prose } from "./html.ts";
import { operationHtml, type Call } from "./operation-html.ts";
import { schemaHtml } from "./schema-html.ts";
import { styleElement, styleHash } from "./style.ts";

/**
 * Renders an OpenAPI document as a page: the calls by subject, then the schemas. It has no script
 * and loads nothing.
 */
export function referencePage(document: ApiDocument): string {
  const { title, description } = document.info;
  const subjects = [...callsBySubject(document)];
  const schemas = Object.entries(document.components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const contents = html`<ul>
      <li><a href="#every-call">Every call</a></li>
    </ul>
    ${subjects.map(
      ([subject, calls]) =>
        html`<h2>${subject}</h2>
          <ul>
            ${calls.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}
          </ul> `,
    )}
    <h2>Schemas</h2>
    <ul>
      ${schemas.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}
    </ul>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} API</title>
        <link rel="icon" href="data:," />
        ${styleElement}
      </head>
      <body>
        <a class="skip" href="#top">To the content</a>
        <nav aria-label="Contents">
          <details>
            <summary>Contents</summary>
            ${contents}
          </details>
          <div>${contents}</div>
        </nav>
        <main id="top">
          <h1>${title} API</h1>
          ${description !== undefined && html`<p>${prose(description)}</p> `}${guide}${subjects.map(
            ([subject, calls]) =>
              html`<section>
                <h2>${subject}</h2>
                ${calls.map((call) => operationHtml(call))}
              </section> `,
          )}
          <section>
            <h2>Schemas</h2>
            ${schemas.map(
              ([name, schema]) =>
                html`<article id="schema-${name}">
                  <h3>${name}</h3>
                  ${schema.description !== undefined && html`<p>${prose(schema.description)}</p> `}${schemaHtml(schema, "received")}
                </article> `,
            )}
          </section>
        </main>
      </body>
    </html> `.markup;
}

/** The calls by their first tag, in the order of the document. */
function callsBySubject({ paths }: ApiDocument): Map<string, Call[]> {
  const subjects = new Map<string, Call[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const subject = operation.tags[0] ?? "Other";
      subjects.set(subject, [...(subjects.get(subject) ?? []), { method, path, operation }]);
    }
  }
  return subjects;
}

/** Allows only the page's own style: no script, no other address, no frame. */
const POLICY = [
  "default-src 'none'",
  `style-src ${styleHash}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Serves the reference. The page is rendered on the first request. */
export function serveReference(document: () => object): RequestHandler {
  let page: string | undefined;
  return (_request, response) => {
    page ??= referencePage(document() as ApiDocument);
    response.set({
      "Content-Security-Policy": POLICY,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-cache",
    });
    response.type("html").send(page);
  };
}
