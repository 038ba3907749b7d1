export default {
  testEnvironment: "node",
  // Node.js loads the files, with tsx.
  runtime: "<rootDir>/test/support/jest/native-runtime.cjs",
  transform: {},
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  reporters: ["default", "<rootDir>/test/support/jest/closing-line.js"],
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/dist/"],
  // Those have a script of their own: npm run test:slow.
  testPathIgnorePatterns: ["/node_modules/", "\\.slow\\.test\\.ts$"],
  // Tests often wait for git or PostgreSQL: on two cores three workers are faster than two.
  maxWorkers: 3,
  // Workers keep the modules of every file, and a process of a gigabyte takes ten times as long to start another one.
  workerIdleMemoryLimit: "512MB",
  // A slow machine makes no test fail.
  testTimeout: 300_000,
};
