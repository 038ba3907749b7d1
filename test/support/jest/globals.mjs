// Its matchers must belong to the realm of the tests: expect.any(String) compares constructors.
export { jestExpect as expect } from "@jest/expect";

/** What `@jest/globals` exports, for one test file. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, it, jest, test } =
  globalThis.testGlobals;
