import { describe, expect, it } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/** The layers, lowest first. A file imports from its own layer and from lower ones. */
const LAYERS = [
  "errors.ts",
  "new-id.ts",
  "metrics",
  "flow",
  "forge",
  "forge/github",
  "store",
  "actions",
  "http",
  "webhooks",
  "jobs",
  "app.ts",
  "service.ts",
  "settings.ts",
  "config.ts",
  "log.ts",
  "sandbox",
  "cli",
  "main.ts",
];
const MAX_FILES_IN_A_FOLDER = 25;

const filesBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file));

/** Paths as in imports, without the leading `src/`. */
const files = [...filesBelow("src"), ...filesBelow("sandbox")]
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file: file.replace(/^src\//, ""), text: readFileSync(join(ROOT, file), "utf8") }));

const rankOf = (file: string): number => {
  const layer = LAYERS.findLastIndex((name) => file === name || file.startsWith(`${name}/`));
  if (layer < 0) throw new Error(`${file} has no layer: add it to LAYERS`);
  return layer;
};

const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");

const onDisk = (file: string): string => (file.startsWith("sandbox/") ? file : `src/${file}`);
const ownImportsOf = ({ file, text }: { file: string; text: string }): string[] =>
  importsOf(text)
    .filter((name) => name.startsWith(".") && !name.endsWith(".json"))
    .map((name) => relative(ROOT, resolve(ROOT, dirname(onDisk(file)), name)).replace(/^src\//, ""));

const offenders = (pattern: RegExp, allowed: (file: string) => boolean): string[] =>
  files
    .filter(({ file, text }) => !allowed(file) && importsOf(text).some((name) => pattern.test(name)))
    .map(({ file }) => file);

/** The files of one import cycle, in order; empty without a cycle. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle.length > 0) return cycle;
    }
    path.pop();
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const cycle = visit(file);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

describe("the layers", () => {
  it("import nothing from a higher layer", () => {
    const upward = files.flatMap((source) =>
      ownImportsOf(source)
        .filter((target) => rankOf(target) > rankOf(source.file))
        .map((target) => `${source.file} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  it("have no import cycle, not even of types", () => {
    expect(findCycle(new Map(files.map((source) => [source.file, ownImportsOf(source)])))).toEqual([]);
  });

  it.each(["console", "bench", "faults"])("and %s has none either", (folder) => {
    const graph = filesBelow(folder)
      .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
      .map((file) => {
        const imported = importsOf(readFileSync(join(ROOT, file), "utf8")).filter((name) =>
          name.startsWith("."),
        );
        return [file, imported.map((name) => relative(ROOT, resolve(ROOT, dirname(file), name)))] as const;
      });
    expect(findCycle(new Map(graph))).toEqual([]);
  });

  it("have no two folders of actions that import each other", () => {
    const folderOf = (file: string): string | undefined => /^actions\/([^/]+)\//.exec(file)?.[1];
    const imports = new Set(
      files
        .flatMap((source) => ownImportsOf(source).map((target) => [folderOf(source.file), folderOf(target)]))
        .flatMap(([from, to]) => (from && to && from !== to ? [`${from} ${to}`] : [])),
    );
    const isMutual = (pair: string): boolean => imports.has(pair.split(" ").toReversed().join(" "));
    expect([...imports].filter(isMutual)).toEqual([]);
  });

  it(`have at most ${MAX_FILES_IN_A_FOLDER} files in a folder`, () => {
    const counts = new Map<string, number>();
    const sources = ["src", "sandbox", "test", "bench", "faults", "scripts"].flatMap(filesBelow);
    for (const file of sources.filter((name) => /\.(?:ts|js|mjs)$/.test(name)))
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_FILES_IN_A_FOLDER)).toEqual([]);
  });

  it("load the sandbox only from main and the command line", () => {
    const loading = files.filter(
      (source) =>
        !/^(?:sandbox|cli)\/|^main\.ts$/.test(source.file) &&
        ownImportsOf(source).some((target) => target.startsWith("sandbox/")),
    );
    expect(loading.map(({ file }) => file)).toEqual([]);
  });

  it("keep GitHub's libraries in the adapter and in the sandbox's forge", () => {
    const isAllowed = (file: string): boolean =>
      file.startsWith("forge/github/") || file.startsWith("sandbox/forge/");
    expect(offenders(/^(probot|@octokit\/)/, isAllowed)).toEqual([]);
  });

  it("keep SQL in the store", () => {
    expect(offenders(/^(knex|pg|fractional-indexing)$/, (file) => file.startsWith("store/"))).toEqual([]);
  });

  it("keep the rules pure: no I/O, no clock, no library but the Markdown parser", () => {
    expect(offenders(/^(?!\.|markdown-it$)/, (file) => !file.startsWith("flow/"))).toEqual([]);
    const clocks = files.filter(
      ({ file, text }) => file.startsWith("flow/") && /Date\.now|new Date\(\)/.test(text),
    );
    expect(clocks).toEqual([]);
  });

  it("use `process` only in main, the command line and the log", () => {
    const readers = files
      .filter(
        ({ file, text }) =>
          /\bprocess\.(env|argv|cwd|exit|stdout|stderr|on|pid)\b/.test(text) &&
          // The last one contains the program of another process.
          !["main.ts", "log.ts", "sandbox/forge/git/start-git.ts"].includes(file),
      )
      .map(({ file }) => file)
      .filter((file) => !file.startsWith("cli/"));
    expect(readers).toEqual([]);
  });

  it("have no state in modules: no variable, and no collection that changes", () => {
    const stateOf = (text: string): string[] => [
      ...[...text.matchAll(/^(?:export )?let (\w+)/gm)].map(([, name = ""]) => name),
      ...[...text.matchAll(/^(?:export )?const (\w+).*= (?:new (?:Weak)?(?:Map|Set)\b|\[|\{\})/gm)]
        .map(([, name = ""]) => name)
        .filter((name) =>
          new RegExp(`\\b${name}(?:\\.(?:set|add|delete|clear|push|shift|splice)\\(|\\[.*\\] = )`).test(text),
        ),
    ];
    const found = files
      .filter(({ file }) => !file.startsWith("sandbox/"))
      .flatMap(({ file, text }) => stateOf(text).map((name) => `${file}: ${name}`));
    expect(found).toEqual([]);
  });
});
