import Sequencer from "@jest/test-sequencer";

/**
 * What takes longest, so that nothing is left to wait for at the end. Files that only wait alternate with files that use
 * the processor. A fresh checkout has no times to go by.
 */
const LONGEST = [
  "webhooks/any-order.slow",
  "faults/timetable.slow",
  "faults/two-processes.slow",
  "releases/release-promote.slow",
  "faults/dying-again.slow",
  "faults/killed-release.slow",
  "faults/database-trouble.slow",
  "walk/dockerfile.slow",
  "faults/random-flows.slow",
  "faults/stepping-clock.slow",
  "faults/killed-move.slow",
  "armed/disarming.slow",
  "moves/concurrent-calls.slow",
  "faults/limit-at-any-request.slow",
  "gates/every-way.slow",
  "faults/database-away.slow",
  "webhooks/lost-for-a-while.slow",
  "webhooks/burst.slow",
  "moves/github-calls.slow",
];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const at = LONGEST.findIndex((name) => path.includes(name));
      return at < 0 ? LONGEST.length : at;
    };
    // The others as Jest sorts them: by their last duration or by size.
    // oxlint-disable-next-line unicorn/no-array-sort -- not that of an array.
    return super.sort(tests).toSorted((a, b) => place(a) - place(b));
  }
}
