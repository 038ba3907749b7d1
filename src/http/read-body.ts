import express, { type Request, type Response } from "express";
import { invalid, Problem } from "../errors.ts";
import { parseJson } from "./read-json.ts";

const MAX_BYTES = 1024 * 1024;
const readAny = express.raw({ type: () => true, limit: MAX_BYTES });
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The request's JSON body, or undefined where it has none. Throws for another content type, a body over 1 MiB, no JSON, or JSON that could be read in two ways. */
export async function readBody(request: Request, response: Response): Promise<unknown> {
  const { "content-length": length, "content-encoding": encoding, "content-type": type } = request.headers;
  const isPlain = encoding === undefined && length !== undefined && Number(length) <= MAX_BYTES;
  const raw = await (isPlain ? readPlain(request) : readByExpress(request, response));
  if (raw.length === 0) return undefined;
  if (type !== "application/json" && !request.is("application/json")) {
    throw new Problem("unsupported_media_type", "Send the body as application/json.");
  }
  return parse(raw);
}

/** A body whose length is told and small enough: nothing about it has to be found out while it comes. */
const readPlain = (request: Request): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.once("end", () => resolve(Buffer.concat(parts)));
    request.once("error", (cause) =>
      reject(new Problem("invalid", "The request could not be read.", { cause })),
    );
  });

async function readByExpress(request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    readAny(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error("the body could not be read"));
    });
  });
  const raw: unknown = request.body;
  return Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
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
