import type { Response } from "express";

/** An answer that is JSON already, as PostgreSQL has written it. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Sends JSON text with its strong ETag, which Express computes unless it is given, or 304 to a caller that has it already. */
export function sendJson(response: Response, json: string | Buffer, etag?: string): void {
  if (etag !== undefined) response.set("ETag", etag);
  response.type("json").send(json);
}
