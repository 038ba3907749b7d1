import { connect } from "node:net";

/** Sends these bytes and returns the whole response after the service closes the connection. */
export function sendRaw(baseUrl: string, lines: readonly string[], body = ""): Promise<RawResponse> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
    });
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(responseOf(Buffer.concat(chunks).toString())));
  });
}

/** Sends the start of a request and more bytes every 0.1 s; returns the response. */
export function trickle(baseUrl: string, beginning: string, drop: string): Promise<RawResponse> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => void socket.write(beginning));
    const sending = setInterval(() => socket.write(drop), 100);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    // The last write may meet a closed connection.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(sending);
      resolve(responseOf(Buffer.concat(chunks).toString()));
    });
  });
}

/** Repeats a request without reading responses, and resolves when the service disconnects. */
export function readNothing(baseUrl: string, request: string): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => void socket.write(request.repeat(200)));
    socket.pause();
    // A socket that does not read notices the end only when it writes.
    const repeating = setInterval(() => socket.write("\r\n"), 100);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(repeating);
      resolve();
    });
  });
}

export interface RawResponse {
  readonly status: number;
  readonly head: string;
  readonly body: unknown;
}

function responseOf(text: string): RawResponse {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), head, body: body === "" ? undefined : JSON.parse(body) };
}
