import { spawn } from "node:child_process";
import type { Writable } from "node:stream";

/** Evaluates NUL-separated texts from file descriptor 3 and ends the output of each with a NUL. */
const EVALUATE = String.raw`while IFS= read -r -d '' -u 3 block; do eval "$block" < /dev/null; printf '\0'; done`;

/** A shell that runs code blocks one after the other, as a user pastes them. */
export interface BlockShell {
  /** Resolves with the output of a block; rejects with all output if one of its commands fails. */
  run(block: string): Promise<string>;
  end(): Promise<void>;
}

export function openShell(cwd: string, env: Readonly<Record<string, string | undefined>>): BlockShell {
  const child = spawn("bash", ["-euo", "pipefail", "-c", EVALUATE], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const input = child.stdio[3] as Writable;
  let printed = "";
  let complained = "";
  let check = (): void => undefined;
  child.stdout?.on("data", (text) => {
    printed += String(text);
    check();
  });
  child.stderr?.on("data", (text) => (complained += String(text)));
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  return {
    run: async (block) => {
      printed = "";
      complained = "";
      const answered = new Promise<string>((resolve) => {
        check = () => {
          if (printed.endsWith("\0")) resolve(printed.slice(0, -1));
        };
      });
      input.write(`${block}\0`);
      const failed = closed.then((code) => {
        throw new Error(`the shell ended with ${code} in\n${block}\n${printed}\n${complained}`);
      });
      return Promise.race([answered, failed]);
    },
    end: async () => {
      input.end();
      await closed;
    },
  };
}
