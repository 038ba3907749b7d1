import { createHash } from "node:crypto";
import { html, Html, type Content } from "../../../src/http/reference/html.ts";
import type { ForgeContext } from "../context.ts";
import { fullNameOf } from "../present/repository.ts";
import type { RepositoryRow } from "../rows.ts";

export interface Page {
  readonly title: string;
  readonly content: Content;
}

const STYLE = `:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:1rem auto;padding:0 1rem;overflow-wrap:anywhere}pre{white-space:pre-wrap;border:1px solid;border-radius:.25rem;padding:.75rem}code,pre{font-family:ui-monospace,monospace;font-size:.875rem}dt{font-weight:600}dd{margin:0 0 .5rem}`;

/** Neither scripts nor requests. The icon is an empty `data:` address, so that browsers request none. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const documentOf = ({ title, content }: Page): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${new Html(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <p>This is Trunkline's sandbox in place of GitHub.</p>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.markup;

const inPath = (part: string | number): string => String(part).split("/").map(encodeURIComponent).join("/");

/** A link to the page of a repository or to one below it. */
export const link = (
  forge: ForgeContext,
  repository: RepositoryRow,
  text: string,
  ...rest: readonly (string | number)[]
): Html => html`<a href="/${[fullNameOf(forge, repository), ...rest].map(inPath).join("/")}">${text}</a>`;

export const list = (items: readonly Content[], empty: string): Html =>
  items.length === 0
    ? html`<p>${empty}</p>`
    : html`<ul>
        ${items.map((item) => html`<li>${item}</li> `)}
      </ul>`;

/** Terms with their values; those without one are left out. */
export const facts = (rows: Readonly<Record<string, Content>>): Html => {
  const shown = Object.entries(rows).filter(([, value]) => value !== null && value !== "" && value !== false);
  return html`<dl>
    ${shown.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd> `,
    )}
  </dl>`;
};

/** Text as it was written: Markdown is not rendered. */
export const plainText = (text: string | null): Content =>
  text === null || text.trim() === "" ? html`<p>No text.</p>` : html`<pre>${text}</pre>`;
