import { dirname, basename } from "node:path";
import type { ServerResponse } from "node:http";
import type { Git } from "../git/git.ts";
import { startGit } from "../git/start-git.ts";

interface BackendCall {
  /** The bare repository's folder. */
  readonly path: string;
  /** `info/refs`, `git-upload-pack` or `git-receive-pack`. */
  readonly service: string;
  readonly query: string;
  readonly method: string;
  readonly contentType: string;
  readonly protocol: string;
  readonly by: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs after git has exited and before the response ends. */
  readonly beforeEnd?: () => Promise<void>;
}

/** Serves a request with `git http-backend` (a CGI program); resolves when the response is sent. */
export function runHttpBackend(
  git: Git,
  call: BackendCall,
  body: Buffer | null,
  response: ServerResponse,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let head: Buffer | null = Buffer.alloc(0);
    const receive = (part: Buffer): void => {
      if (head === null) {
        response.write(part);
        return;
      }
      head = Buffer.concat([head, part]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      writeHead(response, head.toString("latin1", 0, end));
      response.write(head.subarray(end + 4));
      head = null;
    };
    startGit({
      args: ["http-backend"],
      env: cgiEnvironment(git, call, body),
      input: body ?? "",
      onOutput: receive,
      onEnd: (code) => {
        if (head !== null) {
          reject(new Error(`git http-backend exited with ${code} and sent no response`));
          return;
        }
        const done = call.beforeEnd?.() ?? Promise.resolve();
        done.finally(() => response.end()).then(resolve, reject);
      },
    });
  });
}

function cgiEnvironment(git: Git, call: BackendCall, body: Buffer | null): Record<string, string> {
  return {
    ...git.env,
    GIT_PROJECT_ROOT: dirname(call.path),
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_INFO: `/${basename(call.path)}/${call.service}`,
    QUERY_STRING: call.query,
    REQUEST_METHOD: call.method,
    CONTENT_TYPE: call.contentType,
    CONTENT_LENGTH: String(body?.length ?? 0),
    REMOTE_USER: call.by,
    REMOTE_ADDR: "127.0.0.1",
    GIT_PROTOCOL: call.protocol,
    ...call.env,
  };
}

function writeHead(response: ServerResponse, text: string): void {
  let status = 200;
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "status") status = Number(value.slice(0, 3));
    else if (colon > 0) response.setHeader(name, value);
  }
  response.writeHead(status);
}
