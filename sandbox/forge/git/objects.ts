import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";

/** An idle reader is ended after this; starting it again costs about 5 ms. */
const IDLE_MS = 20_000;

export interface GitObject {
  readonly sha: string;
  readonly type: "commit" | "tree" | "blob" | "tag";
  readonly content: Buffer;
}

/** Reads objects of one repository through a `git cat-file --batch` that stays open: about 0.1 ms each instead of a spawn. */
export interface Objects {
  /** Null when there is no such object. `name` is a full or abbreviated hash, or `hash:path`. */
  read(name: string): Promise<GitObject | null>;
  close(): void;
}

interface Waiting {
  readonly resolve: (object: GitObject | null) => void;
  readonly reject: (error: Error) => void;
}

const OBJECT_NAME = /^[0-9a-f]{4,40}(?::[^\n]*)?$/;

export function openObjects(path: string, env: Readonly<Record<string, string>>): Objects {
  let reader: Reader | null = null;
  let idle: NodeJS.Timeout | undefined;
  const close = () => {
    clearTimeout(idle);
    reader?.child.stdin.end();
    reader = null;
  };
  return {
    read(name) {
      if (!OBJECT_NAME.test(name)) return Promise.resolve(null);
      if (reader === null || reader.child.exitCode !== null) reader = startReader(path, env);
      clearTimeout(idle);
      idle = setTimeout(close, IDLE_MS).unref();
      const { child, waiting } = reader;
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${name}\n`);
      });
    },
    close,
  };
}

interface Reader {
  readonly child: ChildProcessWithoutNullStreams;
  readonly waiting: Waiting[];
}

function startReader(path: string, env: Readonly<Record<string, string>>): Reader {
  const child = spawn("git", ["cat-file", "--batch"], { cwd: path, env: { ...env }, stdio: "pipe" });
  const waiting: Waiting[] = [];
  let buffer: Buffer = Buffer.alloc(0);
  child.stdout.on("data", (part: Buffer) => {
    buffer = buffer.length === 0 ? part : Buffer.concat([buffer, part]);
    for (let answer = takeAnswer(buffer); answer !== null; answer = takeAnswer(buffer)) {
      buffer = buffer.subarray(answer.length);
      waiting.shift()?.resolve(answer.object);
    }
  });
  child.stderr.resume();
  child.stdin.on("error", () => undefined);
  const strand = (error: Error) => {
    for (const each of waiting.splice(0)) each.reject(error);
  };
  child.on("error", strand);
  child.on("close", () => strand(new Error("git cat-file ended")));
  return { child, waiting };
}

/** The first complete answer in what was read so far. */
function takeAnswer(buffer: Buffer): { readonly length: number; readonly object: GitObject | null } | null {
  const lineEnd = buffer.indexOf(10);
  if (lineEnd < 0) return null;
  const [sha = "", type = "", size = ""] = buffer.toString("utf8", 0, lineEnd).split(" ");
  if (!/^\d+$/.test(size)) return { length: lineEnd + 1, object: null };
  const contentEnd = lineEnd + 1 + Number(size);
  if (buffer.length < contentEnd + 1) return null;
  const content = Buffer.from(buffer.subarray(lineEnd + 1, contentEnd));
  return { length: contentEnd + 1, object: { sha, type: type as GitObject["type"], content } };
}
