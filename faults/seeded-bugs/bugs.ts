import { ARMED_MOVE_BUGS } from "./armed-move-bugs.ts";
import { CLAIM_AND_GATE_BUGS } from "./claim-and-gate-bugs.ts";
import { FORGE_CHANGE_BUGS } from "./forge-change-bugs.ts";
import type { SeededBug } from "./seeded-bug.ts";

export const SEEDED_BUGS: readonly SeededBug[] = [
  {
    name: "every third placement of a card is acknowledged but not stored",
    invariant: "I1",
    edits: [
      {
        file: "store/cards/placing.js",
        find: "await busyIfStageRemoved(rows(",
        replace:
          "if ((globalThis.placings = (globalThis.placings ?? 0) + 1) % 3) await busyIfStageRemoved(rows(",
      },
    ],
  },
  {
    name: "the response is stored under another key, so a retry repeats the request",
    invariant: "I2",
    edits: [
      {
        file: "store/ops/idempotency.js",
        find: "update idempotency_keys set state = 'done', holder = null",
        replace: "update idempotency_keys set key = key || random(), state = 'done', holder = null",
      },
    ],
  },
  {
    name: "a replay adds spaces to the response",
    invariant: "I3",
    edits: [
      {
        file: "http/write-route.js",
        find: "return start.response;",
        replace: `return { ...start.response, body: start.response.body && start.response.body + " ".repeat(1 + Math.random() * 9) };`,
      },
    ],
  },
  {
    name: "a refused move changes the stage",
    invariant: "I4",
    edits: [
      {
        file: "actions/moves/finish-move.js",
        find: `await end("refused", null);`,
        replace: `await end("refused", null); await enterStage(trx, { card, stage, project }, 0, move.actorId);`,
      },
    ],
  },
  {
    name: "timelines are sorted newest first",
    invariant: "I5",
    edits: [
      {
        file: "store/events/timeline.js",
        find: "t.seq > :after order by t.seq",
        replace: "t.seq > :after order by t.seq desc",
      },
    ],
  },
  {
    name: "merges by Trunkline and by others are swapped",
    invariant: "I6",
    edits: [
      {
        file: "store/inbox/pull-request-items.js",
        find: "t.login is not null",
        replace: "t.login is null",
      },
    ],
  },
  {
    name: "positions in a column start at 1",
    invariant: "I7",
    edits: [
      {
        file: "store/cards/card-columns.js",
        find: "${position} as position",
        replace: "${position} + 1 as position",
      },
    ],
  },
  {
    name: "dead processes keep their work",
    invariant: "I8",
    edits: [
      {
        file: "store/ops/instances.js",
        find: "`exists (select 1 from instances i where i.id = ${column} and",
        replace: "`(${column} is not null or exists (select 1 from instances i where i.id = ${column} and",
      },
      {
        file: "store/ops/instances.js",
        find: "interval '${HEARTBEAT_TIMEOUT_SECONDS} seconds')`;",
        replace: "interval '${HEARTBEAT_TIMEOUT_SECONDS} seconds'))`;",
      },
    ],
  },
  {
    name: "labels are found without their workspace",
    invariant: "I9",
    edits: [
      {
        file: "store/cards/labels.js",
        find: "where l.workspace_id = :workspaceId and l.id = :labelId",
        replace: "where l.id = :labelId",
      },
    ],
  },
  {
    name: "the log contains API keys",
    invariant: "I10",
    edits: [
      { file: "log.js", find: "hooks: { streamWrite: redact }", replace: "hooks: {}" },
      {
        file: "http/metrics.js",
        find: `log[level]({ requestId, callerRequestId,`,
        replace: `log[level]({ requestId, key: request.get("authorization"), callerRequestId,`,
      },
    ],
  },
  {
    name: "write turns are ignored",
    invariant: "I11",
    edits: [
      { file: "store/forge/forge-turns.js", find: "interval '1 second'", replace: "interval '0 seconds'" },
    ],
  },
  {
    name: "GitHub's rate limits are ignored",
    invariant: "I11",
    edits: [
      { file: "forge/github/calls/limits.js", find: "if (seconds > 0)", replace: "if (seconds > 1e9)" },
      { file: "forge/github/calls/limits.js", find: "if (left > 0)", replace: "if (left > 1e9)" },
    ],
  },
  {
    name: "events without a webhook are not found",
    invariant: "I12",
    edits: [
      {
        file: "actions/events/found-events.js",
        find: "yield* pulls.filter(isOpening);",
        replace: "if (pulls) return; yield* pulls.filter(isOpening);",
      },
      {
        file: "actions/events/push.js",
        find: "export async function handlePushToCardBranch(deps, event, context) {",
        replace: "export async function handlePushToCardBranch(deps, event, context) { if (deps) return;",
      },
    ],
  },
  {
    name: "unfinished moves and promotions go on after a revocation",
    invariant: "I9",
    edits: [
      {
        file: "actions/moves/may-enter.js",
        find: "return role !== null && mayAct(role, roleToEnter(stage));",
        replace: "return role !== null || stage !== null;",
      },
    ],
  },
  {
    name: "cards may use repositories that have left their project",
    invariant: "I9",
    edits: [
      {
        file: "store/forge/repositories.js",
        find: `export const IS_USABLE = "cr.project_id is not null";`,
        replace: `export const IS_USABLE = "true";`,
      },
      {
        file: "store/forge/repositories.js",
        find: "and usable.project_id is not null)`;",
        replace: ")`;",
      },
    ],
  },
  {
    name: "the feed lacks what accounts on GitHub do",
    invariant: "I13",
    edits: [
      {
        file: "store/events/feed.js",
        find: "from ${items} t join cards c",
        replace: "from (select * from ${items} where login is null) t join cards c",
      },
    ],
  },
  {
    name: "two processes number events at the same time",
    invariant: "I14",
    edits: [
      {
        file: "store/events/number-events.js",
        find: "select pg_advisory_xact_lock(:lock)",
        replace: "select cast(:lock as bigint)",
      },
    ],
  },
  ...CLAIM_AND_GATE_BUGS,
  ...ARMED_MOVE_BUGS,
  ...FORGE_CHANGE_BUGS,
];
