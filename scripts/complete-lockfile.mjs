// Adds to package-lock.json the platform packages (optional dependencies such as @esbuild/darwin-arm64) that the registry
// used for `npm install` did not serve. Without their entries `npm ci` refuses the lock file on every platform. The entries
// carry no integrity, because nothing was downloaded to compute one from. Run after changing a dependency:
//   npm install && node scripts/complete-lockfile.mjs
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32", "windows"];
const CPUS = {
  arm64: "arm64",
  x64: "x64",
  ia32: "ia32",
  arm: "arm",
  ppc64: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
  loong64: "loong64",
};

/** The `os` and `cpu` fields a platform package declares, read from its name. */
function platformOf(name) {
  const words = name.split("/").pop().split("-");
  const system = SYSTEMS.find((s) => words.includes(s));
  const cpu = Object.keys(CPUS).find((c) => words.includes(c));
  return {
    ...(cpu && { cpu: [CPUS[cpu]] }),
    ...(system && { os: [system === "windows" ? "win32" : system] }),
  };
}

let added = 0;
for (const entry of Object.values(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    const platform = platformOf(name);
    if (lock.packages[path] || !platform.os || !/^\d/.test(range)) continue;
    lock.packages[path] = { version: range, ...platform, ...(entry.dev && { dev: true }), optional: true };
    added++;
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} platform packages added to package-lock.json`);
