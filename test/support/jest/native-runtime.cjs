/**
 * Jest's runtime, except that Node.js itself loads the test files, not a context of node:vm. In a context each test file loads
 * the service's 2,000 modules again, which takes longer than the tests of most files. Here a worker loads them once;
 * `module-hooks.mjs` says which modules each test file loads for itself.
 */
const { register } = require("node:module");
const { pathToFileURL } = require("node:url");
const { default: Runtime } = require("jest-runtime");

register("./module-hooks.mjs", pathToFileURL(__filename));

let testFiles = 0;

class NativeRuntime extends Runtime {
  #mocker;

  constructor(config, environment, ...others) {
    super(config, environment, ...others);
    this.#mocker = environment.moduleMocker;
  }

  /** The test runner passes what `@jest/globals` exports; `globals.mjs` reads it. */
  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals);
    globalThis.testGlobals = { ...globals, jest: { spyOn: this.#mocker.spyOn.bind(this.#mocker) } };
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** The test runner passes a test file. */
  async unstable_importModule(path) {
    // Jest's own source maps do not know these modules; those of Node.js do.
    Error.prepareStackTrace = undefined;
    const url = pathToFileURL(path);
    url.searchParams.set("testFile", String((testFiles += 1)));
    await import(url.href);
  }
}

module.exports = NativeRuntime;
