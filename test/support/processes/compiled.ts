import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Plugin } from "vite";

/** Tells the workers of a run that the service is compiled, and where its bundles are. */
const folderVariable = "TRUNKLINE_TEST_BUNDLES";

const ROOT = resolve(import.meta.dirname, "../../..");
const CHILDREN = join(ROOT, "test/faults/support");

/** What Knex needs for other databases and pg for another library; not installed. */
const OTHER_DRIVERS = [
  "better-sqlite3",
  "mariadb/callback",
  "mysql",
  "mysql2",
  "oracledb",
  "pg-native",
  "pg-query-stream",
  "sqlite3",
  "tedious",
];

/** A module finds its files, for example the migrations, beside its source. */
const keepFolders: Plugin = {
  name: "keep-folders",
  transform: (code, id) =>
    ["src", "sandbox"].some((folder) => id.startsWith(join(ROOT, folder)))
      ? code.replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      : undefined,
};

/** Compiles the sources once for all tests of a run. */
export async function compileForRun(): Promise<void> {
  const outDir = await mkdtemp(join(tmpdir(), "trunkline-bundles-"));
  process.env[folderVariable] = outDir;
  await Promise.all([
    promisify(execFile)("npm", ["run", "--silent", "build"], { cwd: ROOT }),
    bundleChildren(outDir),
  ]);
}

/** Bundles each program with its packages: the tests that kill and restart it load it in a third of the time of 1,500 files. */
async function bundleChildren(outDir: string): Promise<void> {
  // The tests' workers load this file, too, and do not need Vite.
  const { build } = await import("vite");
  const input = Object.fromEntries(
    ["service-child", "forge-child"].map((name) => [name, join(CHILDREN, `${name}.ts`)]),
  );
  await build({
    configFile: false,
    root: ROOT,
    logLevel: "error",
    publicDir: false,
    plugins: [keepFolders],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      rolldownOptions: {
        input,
        external: OTHER_DRIVERS,
        output: { format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "[name]-[hash].cjs" },
      },
    },
  });
}

/** Whether `dist` is compiled from the current sources, as in the slow tests. */
export const isCompiled = (): boolean => process.env[folderVariable] !== undefined;

/** The bundled program. Throws in the quick tests, which have none. */
export function bundleOf(name: "service-child" | "forge-child"): string {
  const folder = process.env[folderVariable];
  if (folder === undefined) throw new Error("Bundles exist in npm run test:slow only.");
  return join(folder, `${name}.cjs`);
}

export async function removeBundles(): Promise<void> {
  const folder = process.env[folderVariable];
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}
