import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";

const ROOT = resolve(import.meta.dirname, "../..");
const LIMIT = 150_000;

interface Chunk {
  readonly file: string;
  readonly src?: string;
  readonly css?: readonly string[];
  /** Chunks that this one cannot start without. */
  readonly imports?: readonly string[];
}
type Manifest = Readonly<Record<string, Chunk>>;

let dir: string;
let manifest: Manifest;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "trunkline-console-"));
  const vite = join(ROOT, "node_modules/vite/bin/vite.js");
  const build = ["build", "--config", join(ROOT, "console/vite.config.ts"), "--outDir", dir];
  // Jest's NODE_ENV would build React for development.
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, [vite, ...build], { env });
  manifest = JSON.parse(await readFile(join(dir, ".vite/manifest.json"), "utf8")) as Manifest;
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** The files that a browser has to load for these entries, with their scripts and styles. */
function filesOf(names: readonly string[], seen = new Set<string>()): string[] {
  return names.flatMap((name) => {
    const chunk = manifest[name];
    if (!chunk) throw new Error(`the build has no ${name}`);
    if (seen.has(name)) return [];
    seen.add(name);
    return [chunk.file, ...(chunk.css ?? []), ...filesOf(chunk.imports ?? [], seen)];
  });
}

describe("the first load of the console", () => {
  it.each([
    "board/board-screen.tsx",
    "card/card-screen.tsx",
    "inbox/inbox-screen.tsx",
    "backlog/backlog-screen.tsx",
    "releases/releases-screen.tsx",
    "releases/release-screen.tsx",
    "trunk/trunk-screen.tsx",
  ])("has at most 150 kB with gzip: %s", async (screen) => {
    const files = [...new Set(filesOf(["index.html", screen]))];
    const sizes = await Promise.all(
      files.map(async (file) => gzipSync(await readFile(join(dir, file))).length),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(LIMIT);
  });

  it("has no inline scripts, styles or data: addresses, which the Content-Security-Policy refuses", async () => {
    const html = await readFile(join(dir, "index.html"), "utf8");
    expect(html).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/);
    const styles = Object.values(manifest).flatMap(({ css = [] }) => css);
    for (const file of new Set(styles))
      expect(await readFile(join(dir, file), "utf8")).not.toContain("data:");
  });
});
