import Sequencer from "@jest/test-sequencer";

/** What takes longest, so that nothing is left to wait for at the end. A fresh checkout has no times to go by. */
const LONGEST = [
  "webhooks/any-order.slow",
  "faults/database-trouble.slow",
  "faults/killed-forge.slow",
  "releases/release-promote.slow",
  "faults/random-flows.slow",
  "faults/killed-release.slow",
  "faults/killed-move.slow",
];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const at = LONGEST.findIndex((name) => path.includes(name));
      return at < 0 ? LONGEST.length : at;
    };
    return [...tests].toSorted((a, b) => place(a) - place(b));
  }
}
