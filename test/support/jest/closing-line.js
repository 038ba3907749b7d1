import { appendFileSync } from "node:fs";
import { relative } from "node:path";

/** Of each failure's message, in characters. */
const MESSAGE_LENGTH = 400;

const SLOWEST = 10;

/**
 * Ends a run with its slowest files, the names of the failed tests and one plain line, `N passed, N failed`, which CI systems that know no jest can
 * read. With CLOSING_LINES the lines are added to that file as well, for whoever adds up several runs.
 */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    process.stdout.write(`\nThe slowest files:\n${slowestOf(results).join("\n")}\n`);
    const failures = results.testResults.flatMap(failuresOf);
    // A suite that could not be loaded ran no test; it has failed all the same.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const lines = [...failures, `${results.numPassedTests} passed, ${failed} failed`];
    const text = lines.map((line) => `${line}\n`).join("");
    process.stdout.write(`\n${text}`);
    if (process.env.CLOSING_LINES) appendFileSync(process.env.CLOSING_LINES, text);
  }
}

function slowestOf({ testResults }) {
  return testResults
    .toSorted((a, b) => b.perfStats.runtime - a.perfStats.runtime)
    .slice(0, SLOWEST)
    .map(({ testFilePath, perfStats: { runtime } }) => {
      const seconds = (runtime / 1_000).toFixed(1).padStart(6);
      return `${seconds} s  ${relative(process.cwd(), testFilePath)}`;
    });
}

function failuresOf({ testFilePath, testResults, testExecError }) {
  const file = relative(process.cwd(), testFilePath);
  const failed = testResults
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages }) => ({ fullName, message: failureMessages[0] ?? "" }));
  if (testExecError) failed.push({ fullName: "the file itself", message: testExecError.message });
  return failed.map(
    ({ fullName, message }) =>
      `Failed: ${file}: ${fullName}: ${message.replaceAll(/\s+/g, " ").slice(0, MESSAGE_LENGTH)}`,
  );
}
