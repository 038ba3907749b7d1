import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

const WORDS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The address and the headers together are larger than 16 kB."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The body's chunk extensions are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time."],
};

/** Answers what is no HTTP, or too much of it, in the one shape of errors. No request has come of it, so nothing else can. */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [statusCode, message] = WORDS[error.code ?? ""] ?? [400, "The request could not be read as HTTP."];
  const reason = STATUS_CODES[statusCode] ?? "";
  const body = JSON.stringify({ message, error: reason, statusCode });
  socket.end(
    [
      `HTTP/1.1 ${statusCode} ${reason}`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
