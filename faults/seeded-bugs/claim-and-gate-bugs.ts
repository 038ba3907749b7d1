import type { SeededBug } from "./seeded-bug.ts";

/** Bugs of claims, gates and the audit log. */
export const CLAIM_AND_GATE_BUGS: readonly SeededBug[] = [
  {
    name: "a program may write under a claim that its later run has taken over",
    invariant: "I15",
    edits: [
      {
        file: "store/cards/claims.js",
        find: "and k.claim_id = :claimId and k.generation = :generation and k.credential_id = :credentialId",
        replace: "and k.credential_id = :credentialId",
      },
    ],
  },
  {
    name: "the next free card may be one that is claimed",
    invariant: "I15",
    edits: [
      {
        file: "store/cards/claims.js",
        find: "where k.workspace_id = :workspaceId and not ${IS_HELD_AFTER_LOCK}",
        replace: "where k.workspace_id = :workspaceId",
      },
    ],
  },
  {
    name: "two calls at the same time may get the same next card",
    invariant: "I15",
    edits: [
      { file: "store/cards/claims.js", find: "limit 1 for update of k skip locked)", replace: "limit 1)" },
    ],
  },
  {
    name: "two calls at the same time may exceed the limit of claims",
    invariant: "I15",
    edits: [
      {
        file: "store/cards/claims.js",
        find: "await lockName(trx, `claims:${credentialId}`);",
        replace: "await Promise.resolve();",
      },
    ],
  },
  {
    name: "moves begin without the lock on a limited column",
    invariant: "I17",
    edits: [
      {
        file: "actions/moves/check-gates.js",
        find: "await lockColumn(trx, entry.stage.id);",
        replace: "await Promise.resolve();",
      },
    ],
  },
  {
    name: "promotions pass gates",
    invariant: "I17",
    edits: [
      {
        file: "actions/releases/promote-cards.js",
        find: "startMove(deps, trx, transition, request)",
        replace:
          "startMove(deps, trx, { ...transition, stage: { ...transition.stage, gates: undefined } }, request)",
      },
    ],
  },
  {
    name: "the authors of commits count as second persons",
    invariant: "I17",
    edits: [
      {
        file: "flow/gates.js",
        find: "find((one) => one.personId === personId)",
        replace: "find(() => false)",
      },
    ],
  },
  {
    name: "a replay leaves no row",
    invariant: "I18",
    edits: [
      {
        file: "http/write-route.js",
        find: "await attempt.end(deps.db, { status: start.response.status, problem: null, isReplay: true });",
        replace: "",
      },
    ],
  },
  {
    name: "a call whose role is too low leaves no row",
    invariant: "I18",
    edits: [
      {
        file: "http/attempts.js",
        find: "if (outcome.status === 429 ||",
        replace: "if (outcome.status === 403 || outcome.status === 429 ||",
      },
    ],
  },
  {
    name: "rows change when they are added to the chain",
    invariant: "I18",
    edits: [
      {
        file: "store/audit/chain.js",
        find: "set position = n.position,",
        replace: "set user_agent = null, position = n.position,",
      },
    ],
  },
];
