import { randomUUID } from "node:crypto";
import { access, constants, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Problem } from "../../errors.ts";
import type { CreatedApp } from "../../forge/github/app-from-manifest.ts";

/** A file that sets one of these already belongs to an App. */
const APP_SETTINGS: readonly string[] = [
  "APP_ID",
  "PRIVATE_KEY",
  "PRIVATE_KEY_PATH",
  "WEBHOOK_SECRET",
  "CLIENT_ID",
  "CLIENT_SECRET",
];

const LINE = /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/;
const EMPTY = /^(''|""|)\s*(#.*)?$/;

/** Throws when a settings file already has settings of an App, or cannot be written. */
export async function assertNoAppSettings(path: string): Promise<void> {
  const present = linesOf(await textOf(path)).flatMap((line) => {
    const [, name = "", value = ""] = LINE.exec(line) ?? [];
    return APP_SETTINGS.includes(name) && !EMPTY.test(value) ? [name] : [];
  });
  if (present.length > 0) {
    throw new Problem(
      "conflict",
      `${path} sets ${present.join(", ")} already. It was not changed. Remove these lines, or choose another file with --file.`,
    );
  }
  await access(dirname(await targetOf(path)), constants.W_OK);
}

/**
 * Adds the App's settings and the URL that it was created for, in place of present ones. Only the
 * owner can read the file then.
 */
export async function writeAppSettings(path: string, app: CreatedApp, publicUrl: string): Promise<void> {
  const missing = new Map([
    ["APP_ID", String(app.id)],
    // On one line without quotes: readers of such files differ on both.
    ["PRIVATE_KEY", Buffer.from(app.privateKey).toString("base64")],
    ["WEBHOOK_SECRET", app.webhookSecret],
    ["CLIENT_ID", app.clientId],
    ["CLIENT_SECRET", app.clientSecret],
    ["PUBLIC_URL", publicUrl],
  ]);
  const lines = linesOf(await textOf(path)).map((line) => {
    const name = LINE.exec(line)?.[1] ?? "";
    const value = missing.get(name);
    missing.delete(name);
    return value === undefined ? line : `${name}=${value}`;
  });
  const added = [...missing].map(([name, value]) => `${name}=${value}`);
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

/** The target of a symbolic link. */
const targetOf = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Replaces a file atomically, flushed to disk: GitHub returns the secrets only once. */
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
