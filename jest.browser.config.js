import config from "./jest.config.js";

/**
 * Stories in a browser, against the compiled pages: `npm run test:browser`, which installs the browser and builds the pages.
 * A few at a time, because each starts a browser.
 */
export default {
  ...config,
  testMatch: ["<rootDir>/test/browser/**/*.browser.ts"],
  testPathIgnorePatterns: [],
  maxWorkers: 2,
  testTimeout: 300_000,
};
