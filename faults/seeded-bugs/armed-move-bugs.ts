import type { SeededBug } from "./seeded-bug.ts";

/** Bugs of moves that wait until they are ready. */
export const ARMED_MOVE_BUGS: readonly SeededBug[] = [
  {
    name: "a push does not disarm a move, which merges the head that it finds",
    invariant: "I16",
    edits: [
      {
        file: "actions/moves/inspect-armed.js",
        find: "headShas: headsOf(armedWith)",
        replace: "headShas: null",
      },
    ],
  },
  {
    name: "an expired move fires",
    invariant: "I16",
    edits: [
      {
        file: "actions/moves/inspect-armed.js",
        find: "if (isExpired)",
        replace: "if (isExpired && !armedWith)",
      },
    ],
  },
  {
    name: "a move fires after the access of its mover has ended",
    invariant: "I16",
    edits: [
      {
        file: "actions/moves/inspect-armed.js",
        find: "if (!(await mayEnter(db, actorId, transition)))",
        replace: "if (!actorId)",
      },
    ],
  },
  {
    name: "a move that has landed is still armed",
    invariant: "I16",
    edits: [
      {
        file: "actions/moves/armed-move.js",
        find: "if (armed?.id === id)",
        replace: "if (armed?.id === id) return;\n    if (armed?.id === id)",
      },
    ],
  },
  {
    name: "the inbox lacks disarmed moves",
    invariant: "I16",
    edits: [
      {
        file: "actions/moves/armed-move.js",
        find: "if (!REQUESTED.has(reason))",
        replace: "if (!reason)",
      },
    ],
  },
];
