import { randomUUID } from "node:crypto";
import { access, constants, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Problem } from "../../errors.ts";
import type { MadeApp } from "../../forge/github/app-from-manifest.ts";

/** What says which App it is: whoever has one of them has an App. */
const SETTINGS_OF_AN_APP: readonly string[] = ["APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET"];

const LINE = /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/;
const EMPTY = /^(''|""|)\s*(#.*)?$/;

/** Throws where a settings file tells of an App already, or where it could not be written. A missing one is an empty one. */
export async function assertRoomForApp(path: string): Promise<void> {
  const taken = linesOf(await textOf(path)).flatMap((line) => {
    const [, name = "", value = ""] = LINE.exec(line) ?? [];
    return SETTINGS_OF_AN_APP.includes(name) && !EMPTY.test(value) ? [name] : [];
  });
  if (taken.length > 0) {
    throw new Problem(
      "conflict",
      `${path} sets ${taken.join(", ")} already, and is left as it is. Take these lines out, or name another one with --file.`,
    );
  }
  await access(dirname(await targetOf(path)), constants.W_OK);
}

/** Adds the App's three settings, in the place of empty ones where there are such. Nobody else may read the file from then on. */
export async function writeApp(path: string, app: MadeApp): Promise<void> {
  const left = new Map([
    ["APP_ID", String(app.id)],
    // In one line without quotes, which every reader of such files takes alike.
    ["PRIVATE_KEY", Buffer.from(app.privateKey).toString("base64")],
    ["WEBHOOK_SECRET", app.webhookSecret],
  ]);
  const lines = linesOf(await textOf(path)).map((line) => {
    const name = LINE.exec(line)?.[1] ?? "";
    const value = left.get(name);
    left.delete(name);
    return value === undefined ? line : `${name}=${value}`;
  });
  const added = [...left].map(([name, value]) => `${name}=${value}`);
  await replaceFile(await targetOf(path), `${[...lines, ...added].join("\n")}\n`);
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (Object(error).code === "ENOENT") return "";
    throw error;
  }
}

/** The file behind a link. */
const targetOf = (path: string): Promise<string> => realpath(path).catch(() => path);

/** All or nothing, and on the disk: the forge gives the secrets only once. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { flag: "wx", mode: 0o600, flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
