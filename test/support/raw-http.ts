import { connect } from "node:net";

/** Sends these bytes as a request and gives the whole answer once the service closes the connection. */
export function sendRaw(baseUrl: string, lines: readonly string[], body = ""): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
    });
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(answerOf(Buffer.concat(chunks).toString())));
  });
}

/** Sends the beginning of a request and then a bit more every tenth of a second, until the service has had enough; gives what it answered. */
export function trickle(baseUrl: string, beginning: string, drop: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => void socket.write(beginning));
    const dripping = setInterval(() => socket.write(drop), 100);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    // The last drop may meet a closed door.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(dripping);
      resolve(answerOf(Buffer.concat(chunks).toString()));
    });
  });
}

/** Asks the same thing very often, reads nothing of the answers, and resolves when the service hangs up. */
export function readNothing(baseUrl: string, request: string): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => void socket.write(request.repeat(200)));
    socket.pause();
    // A socket that reads nothing hears of its end by writing only.
    const knocking = setInterval(() => socket.write("\r\n"), 100);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(knocking);
      resolve();
    });
  });
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: unknown;
}

function answerOf(text: string): RawAnswer {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), head, body: body === "" ? undefined : JSON.parse(body) };
}
