// Runs the stories of test/browser in Chromium: `npm run test:browser`, or with the path of a file.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { findBrowser } from "./find-browser.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));

const run = (args, env = process.env) =>
  spawnSync(process.execPath, args, { cwd: root, env, stdio: "inherit" }).status === 0;

const browser = findBrowser();
const jest = ["--import", "tsx", "node_modules/jest/bin/jest.js"];
const isPassed =
  browser !== null &&
  run(["scripts/build.mjs", "console"]) &&
  run([...jest, "--config", "jest.browser.config.js", ...process.argv.slice(2)], {
    ...process.env,
    CHROMIUM_PATH: browser,
  });
process.exitCode = isPassed ? 0 : 1;
