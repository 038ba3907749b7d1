import type { RequestHandler } from "express";
import type { ApiDocument } from "./document.ts";
import { referencePage } from "./page.ts";
import { styleHash } from "./style.ts";

/** Nothing but this very style: no script at all, nothing from another address, no frame around it. */
const POLICY = [
  "default-src 'none'",
  `style-src ${styleHash}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Shows an OpenAPI document to people. The page is made once, when somebody first asks for it. */
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
