import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { eventually } from "../api.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

export interface SandboxFile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly forge: {
    readonly cloneUrl: string;
    readonly users: readonly { readonly login: string; readonly token: string }[];
    readonly control: { readonly url: string; readonly token: string };
  };
}

export interface NpmStarted {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly printed: () => string;
  readonly file: SandboxFile;
}

/** Runs `npm start` with a new data directory and free ports. SIGTERM to the child ends all of it. */
export async function npmStart(
  dataDir: string,
  whenStarted: (child: ChildProcess, exited: Promise<number | null>) => void,
): Promise<NpmStarted> {
  const child = spawn("npm", ["start"], {
    cwd: ROOT,
    env: {
      ...process.env,
      TRUNKLINE_DATA_DIR: dataDir,
      PORT: "0",
      SANDBOX_FORGE_PORT: "0",
      NODE_OPTIONS: "",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stdout.on("data", (text) => (printed += String(text)));
  child.stderr.on("data", (text) => (printed += String(text)));
  const exited = new Promise<number | null>((done) => child.on("exit", (code) => done(code)));
  whenStarted(child, exited);
  await eventually(
    () => Promise.resolve(printed),
    (text) => text.includes("Ctrl-C"),
    240_000,
  );
  const file = JSON.parse(await readFile(join(dataDir, "sandbox.json"), "utf8")) as SandboxFile;
  return { child, exited, printed: () => printed, file };
}
