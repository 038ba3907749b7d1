import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { buffer } from "node:stream/consumers";

interface PostResult {
  /** As in GitHub's delivery log. */
  readonly status: string;
  readonly statusCode: number;
  readonly responseHeaders: Record<string, string>;
  readonly responseBody: string | null;
}

/** Sends a webhook on a new connection; waits up to `timeoutMs` for the response. Never throws. */
export function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  timeoutMs: number,
): Promise<PostResult> {
  return new Promise((resolve) => {
    const failed = (status: string) =>
      resolve({ status, statusCode: 0, responseHeaders: {}, responseBody: null });
    let target: URL;
    try {
      target = new URL(url);
    } catch {
      failed("invalid url");
      return;
    }
    const send = target.protocol === "https:" ? httpsRequest : httpRequest;
    const length = String(Buffer.byteLength(body));
    const outgoing = send(target, {
      method: "POST",
      headers: { ...headers, "Content-Length": length },
      agent: false,
    });
    const timer = setTimeout(() => {
      failed("timed out");
      outgoing.destroy();
    }, timeoutMs);
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      failed(error.code === "ECONNREFUSED" ? "failed to connect to host" : "failed to deliver");
    });
    outgoing.on("response", (response) => {
      buffer(response)
        .then((responseBody) => resolve(resultOf(response, responseBody.toString("utf8"))))
        .catch(() => failed("failed to deliver"))
        .finally(() => clearTimeout(timer));
    });
    outgoing.end(body);
  });
}

function resultOf({ statusCode = 0, headers }: IncomingMessage, responseBody: string): PostResult {
  return {
    status: statusCode >= 200 && statusCode < 300 ? "OK" : `Invalid HTTP Response: ${statusCode}`,
    statusCode,
    responseHeaders: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, String(value)]),
    ),
    responseBody: responseBody.slice(0, 65_536),
  };
}
