import express, { type Request, type Response } from "express";
import { invalid, Problem } from "../errors.ts";

const MAX_BODY = "1mb";
/** Far more than any body of ours asks for. */
const MAX_DEPTH = 32;
const read = express.raw({ type: () => true, limit: MAX_BODY });

/** The request's JSON body, or undefined where it has none. Throws for another content type, a body over 1 MiB, or no JSON. */
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
  const body = parse(raw);
  if (isDeeperThan(MAX_DEPTH, body)) throw invalid(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  return body;
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  } catch (error) {
    throw new Problem("invalid", "The body is not JSON.", { cause: error });
  }
}

/** Looks no deeper than asked, because what comes after walks the whole body and a megabyte of brackets would end its stack. */
function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
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
