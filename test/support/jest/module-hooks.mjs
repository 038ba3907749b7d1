const urlOf = (path) => new URL(path, import.meta.url).href;
const GLOBALS = urlOf("globals.mjs");
const TESTS = urlOf("../../");
/** Compiling the schemas of all responses takes longer than most files' tests. */
const LOADED_ONCE = [urlOf("../documented.ts")];

/**
 * Modules below test/ and `@jest/globals` are loaded again for each test file, because they have variables. A query in the URL of
 * the test file says which one it is; what it imports gets the same query.
 */
export async function resolve(specifier, context, next) {
  const resolved =
    specifier === "@jest/globals" ? { url: GLOBALS, format: "module" } : await next(specifier, context);
  const testFile = context.parentURL && new URL(context.parentURL).searchParams.get("testFile");
  const isShared = !resolved.url.startsWith(TESTS) || LOADED_ONCE.includes(resolved.url);
  if (!testFile || isShared) return { ...resolved, shortCircuit: true };
  const url = new URL(resolved.url);
  url.searchParams.set("testFile", testFile);
  return { ...resolved, url: url.href, shortCircuit: true };
}
