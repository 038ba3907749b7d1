import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

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
    const failed = (status: string, statusCode = 0) =>
      resolve({ status, statusCode, responseHeaders: {}, responseBody: null });
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
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", () => undefined);
      response.on("close", () => {
        clearTimeout(timer);
        if (!response.complete) return failed("failed to deliver");
        const statusCode = response.statusCode ?? 0;
        const isFine = statusCode >= 200 && statusCode < 300;
        resolve({
          status: isFine ? "OK" : `Invalid HTTP Response: ${statusCode}`,
          statusCode,
          responseHeaders: Object.fromEntries(
            Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
          ),
          responseBody: Buffer.concat(parts).toString("utf8").slice(0, 65_536),
        });
      });
    });
    outgoing.end(body);
  });
}
