import config from "./jest.config.js";

/** What takes its time, such as killing processes and waiting for others to notice. CI runs it, too. */
export default { ...config, testMatch: ["<rootDir>/test/**/*.slow.test.ts"], testPathIgnorePatterns: [] };
