// Finds the Chromium of the browser tests and the bench, and installs it where it can (root on Debian).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const DEBIAN = "/usr/bin/chromium";

/** The path of CHROMIUM_PATH or of Debian's chromium; null, with a message on stderr, if neither exists. */
export function findBrowser() {
  const named = process.env.CHROMIUM_PATH ?? DEBIAN;
  if (existsSync(named)) return named;
  const isRoot = process.getuid?.() === 0;
  if (!process.env.CHROMIUM_PATH && isRoot && existsSync("/usr/bin/apt-get")) {
    console.log("Installing chromium …");
    const install = ["install", "--yes", "--no-install-recommends", "chromium", "fonts-liberation"];
    // The package lists of a new machine name an older browser than there is.
    if (run(["update"]) && run(install) && existsSync(DEBIAN)) return DEBIAN;
  }
  console.error(
    `Chromium is needed; ${named} does not exist. On Debian run\n` +
      "  apt-get update && apt-get install --no-install-recommends chromium fonts-liberation\n" +
      "as root, or set CHROMIUM_PATH to an installed Chromium or Chrome.",
  );
  return null;
}

const run = (args) => spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
