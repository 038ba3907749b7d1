import config from "./jest.config.js";

/**
 * Whole stories, killed processes, and whatever waits for others to notice. Most of that is waiting, so more of it goes on at once. CI runs it, too.
 */
export default {
  ...config,
  testMatch: ["<rootDir>/test/**/*.slow.test.ts"],
  testPathIgnorePatterns: [],
  testSequencer: "<rootDir>/test/support/longest-first.js",
  maxWorkers: 3,
};
