// Builds what has changed: the service into dist, the pages of the web console into dist/console. A part of `npm start`.
// With the argument `console` only those. `npm run types` checks the types.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const at = (name) => join(root, name);

/** The time of the last change in a file, or in a folder and all below it. */
function changedAt(path) {
  const own = statSync(path);
  if (!own.isDirectory()) return own.mtimeMs;
  const inside = readdirSync(path, { recursive: true }).map((name) => statSync(join(path, name)).mtimeMs);
  return Math.max(own.mtimeMs, ...inside);
}

/** Whether a result is newer than everything it is made of. */
const isCurrent = (result, sources) =>
  existsSync(at(result)) &&
  statSync(at(result)).mtimeMs > Math.max(...sources.map(at).filter(existsSync).map(changedAt));

async function buildService() {
  const result = "dist/.tsbuildinfo";
  const sources = [
    "src",
    "sandbox",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
  ];
  if (isCurrent(result, sources)) return;
  const startedAt = new Date();
  const tsc = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"];
  const [code] = await once(spawn(process.execPath, tsc, { cwd: root, stdio: "inherit" }), "exit");
  if (code !== 0) throw new Error("The service could not be built.");
  // The compiler does not write it if no output has changed. A source may have changed meanwhile.
  utimesSync(at(result), startedAt, startedAt);
}

async function buildConsole() {
  if (isCurrent("dist/console/index.html", ["console", "package-lock.json"])) return;
  // Vite keeps the variable if it is set, for example by a test runner, and would build React for development.
  process.env.NODE_ENV = "production";
  const { build } = await import("vite");
  await build({ configFile: at("console/vite.config.ts") });
}

await Promise.all(process.argv[2] === "console" ? [buildConsole()] : [buildService(), buildConsole()]);
