// Builds the pages of the web console into dist/console, unless they are newer than everything they are made of: a part of
// `npm run build`, and so of `npm start`.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("../", import.meta.url));
const built = join(root, "dist/console/index.html");

/** The time of the last change in a file, or in a folder and all below it. */
function changedAt(path) {
  const own = statSync(path);
  if (!own.isDirectory()) return own.mtimeMs;
  const inside = readdirSync(path, { recursive: true }).map((name) => statSync(join(path, name)).mtimeMs);
  return Math.max(own.mtimeMs, ...inside);
}

const sources = ["console", "package-lock.json"]
  .map((name) => join(root, name))
  .filter((path) => existsSync(path));
const isCurrent = existsSync(built) && statSync(built).mtimeMs > Math.max(...sources.map(changedAt));
// Vite keeps the variable if it is set, for example by a test runner, and would build React for development.
process.env.NODE_ENV = "production";
if (!isCurrent) await build({ configFile: join(root, "console/vite.config.ts") });
