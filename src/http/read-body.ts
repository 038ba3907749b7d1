import express, { type Request, type Response } from "express";
import { invalid, Problem } from "../errors.ts";
import { parseJson } from "./read-json.ts";

const MAX_BODY = "1mb";
const read = express.raw({ type: () => true, limit: MAX_BODY });

/** The request's JSON body, or undefined where it has none. Throws for another content type, a body over 1 MiB, no JSON, or JSON that could be read in two ways. */
export async function readBody(request: Request, response: Response): Promise<unknown> {
  await new Promise<void>((resolve, reject) => {
    read(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error("the body could not be read"));
    });
  });
  const raw: unknown = request.body;
  if (!Buffer.isBuffer(raw) || raw.length === 0) return undefined;
  if (!request.is("application/json")) {
    throw new Problem("unsupported_media_type", "Send the body as application/json.");
  }
  return parse(raw);
}

function parse(raw: Buffer): unknown {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("invalid", "The body is not JSON.", { cause: error });
  }
}

/** A read takes no body. Throws before any of it is read. */
export function requireNoBodySent({ headers }: Request): void {
  if (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0) {
    throw invalid("This call takes no body. What it asks for goes into the query.");
  }
}

/** What a route without a body refuses to be sent. */
export function requireNoBody(body: unknown): void {
  const isEmpty = typeof body === "object" && body !== null && Object.keys(body).length === 0;
  if (body !== undefined && !isEmpty) throw invalid("This call takes no body.");
}
