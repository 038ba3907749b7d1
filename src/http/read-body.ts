import express, { type Request, type Response } from "express";
import { invalid, Problem } from "../errors.ts";
import { parseJson } from "./read-json.ts";

/** Reads the bytes of a request's body, none where it has none. Throws for one that is too large or cannot be read. */
export type ReadBytes = (request: Request, response: Response) => Promise<Buffer>;

export function bytesReader(options: { readonly limit: number; readonly inflate?: boolean }): ReadBytes {
  const readRaw = express.raw({ type: () => true, ...options });
  return async (request, response) => {
    await new Promise<void>((resolve, reject) => {
      readRaw(request, response, (error?: unknown) => {
        if (error === undefined) resolve();
        else reject(error instanceof Error ? error : new Error("the body could not be read"));
      });
    });
    const raw: unknown = request.body;
    return Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
  };
}

const readBytes = bytesReader({ limit: 1024 * 1024 });
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The request's JSON body, or undefined where it has none. Throws for another content type, a body over 1 MiB, no JSON, or JSON that could be read in two ways. */
export async function readBody(request: Request, response: Response): Promise<unknown> {
  const raw = await readBytes(request, response);
  if (raw.length === 0) return undefined;
  if (!request.is("application/json")) {
    throw new Problem("unsupported_media_type", "Send the body as application/json.");
  }
  return parse(raw);
}

/** A payload of another system, which must be JSON in UTF-8: as text and as its value. */
export function decodePayload(payload: Buffer): { text: string; parsed: unknown } {
  try {
    const text = utf8.decode(payload);
    return { text, parsed: JSON.parse(text) };
  } catch (error) {
    throw new Problem("invalid", "The payload is not JSON.", { cause: error });
  }
}

function parse(raw: Buffer): unknown {
  try {
    return parseJson(utf8.decode(raw));
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
