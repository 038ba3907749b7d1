export default {
  testEnvironment: "node",
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        jsc: {
          target: "es2023",
          parser: { syntax: "typescript" },
          experimental: { keepImportAttributes: true },
        },
        module: { type: "es6" },
        sourceMaps: "inline",
      },
    ],
  },
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  reporters: ["default", "<rootDir>/test/support/closing-line.js"],
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/dist/"],
  // Those have a script of their own: npm run test:slow.
  testPathIgnorePatterns: ["/node_modules/", "\\.slow\\.test\\.ts$"],
  // Most of a test's time is another process's, such as git's; jest's own choice on two cores would be one.
  maxWorkers: 2,
  // A worker keeps what each file loaded, and starting git from a process of a gigabyte takes ten times as long.
  workerIdleMemoryLimit: "256MB",
  testTimeout: 30_000,
};
