import { appendFileSync } from "node:fs";

/**
 * Ends a run with one plain line, `N passed, N failed`, which CI systems that know no jest can read. With CLOSING_LINES the line is
 * added to that file as well, for whoever adds up several runs.
 */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    // A suite that could not be loaded ran no test; it has failed all the same.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const line = `${results.numPassedTests} passed, ${failed} failed\n`;
    process.stdout.write(`\n${line}`);
    if (process.env.CLOSING_LINES) appendFileSync(process.env.CLOSING_LINES, line);
  }
}
