import config from "./jest.config.js";

/**
 * Whole stories, killed processes, and tests that wait for timeouts. CI runs them, too.
 */
export default {
  ...config,
  globalSetup: "<rootDir>/test/support/slow-setup.ts",
  testMatch: ["<rootDir>/test/**/*.slow.test.ts"],
  testPathIgnorePatterns: [],
  testSequencer: "<rootDir>/test/support/jest/longest-first.js",
  // They wait more than the other tests, for processes and timeouts.
  maxWorkers: 4,
};
