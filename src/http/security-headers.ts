import type { Response } from "express";

/** An API's answers are data: nothing in them is to be run, framed, guessed at or told to the next site. */
const HEADERS = Object.entries({
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
});

/** On every answer; a page that needs more sets its own. HSTS is left to whatever ends TLS. */
export function setSecurityHeaders(response: Response): void {
  for (const [name, value] of HEADERS) response.setHeader(name, value);
}
