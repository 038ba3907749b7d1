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

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: unknown;
}

function answerOf(text: string): RawAnswer {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), head, body: body === "" ? undefined : JSON.parse(body) };
}
