import Sequencer from "@jest/test-sequencer";

/** What takes longest, so that nothing is left to wait for at the end. A fresh checkout has no times to go by. */
const LONGEST = [
  "releases/release-promote.slow",
  "webhooks/any-order.slow",
  "faults/limit-at-any-request.slow",
  "faults/two-processes.slow",
  "releases/release-complete.slow",
  "walk/dockerfile.slow",
  "webhooks/burst.slow",
  "faults/dying-again.slow",
  "faults/killed-release.slow",
  "faults/random-flows.slow",
  "faults/database-trouble.slow",
  "moves/failed-and-concurrent-moves.slow",
  "moves/changes-during-moves.slow",
  "faults/killed-move.slow",
  "armed/disarming.slow",
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
