import type { SeededBug } from "./seeded-bug.ts";

/** Bugs in how the service follows what people change on GitHub. */
export const FORGE_CHANGE_BUGS: readonly SeededBug[] = [
  {
    name: "the trunk report is in the order of dates",
    invariant: "I19",
    edits: [
      {
        file: "store/forge/trunk-report.js",
        find: "max(l.at) over (partition by l.repository_id, l.branch_name order by l.seq) desc",
        replace: "l.at desc",
      },
    ],
  },
  {
    name: "a hidden comment counts as an edited one",
    invariant: "I20",
    edits: [
      {
        file: "forge/github/deliveries/translate-delivery.js",
        find: `if (action === "edited" && !isTextChanged(delivered.changes, comment.body))`,
        replace: "if (!delivered)",
      },
    ],
  },
];
