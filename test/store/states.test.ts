/** Every state that something can be in, a request that leaves it, and the name of the test that proves this. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const ROOT = join(import.meta.dirname, "../..");
const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** `state: [way out, file, part of the test's title]`; null for an end. */
type States = Readonly<Record<string, readonly [wayOut: string, file: string, title: string] | null>>;

const MOVES = "test/moves/failed-and-concurrent-moves.slow.test.ts";
const COMPLETE = "test/releases/release-complete.slow.test.ts";
const FREEZE = "test/releases/release-freeze.slow.test.ts";
const CANCEL = "test/releases/cancel-promotion.slow.test.ts";
const RETRIES = "test/webhooks/delivery-retries.slow.test.ts";
const MEMBERS = "test/console/members.test.ts";
const PAUSES = "test/feed/webhook-failures.slow.test.ts";

const card: States = {
  draft: ["POST …/move", "test/cards/card-life.test.ts", "gets a branch when it enters a stage"],
  "in a stage": ["POST …/move, also backwards", "test/cards/card-life.test.ts", "moves back without undoing"],
  blocked: ["the next move, or its cause ends", "test/cards/card-life.test.ts", "is unblocked automatically"],
  armed: ["DELETE …/armed", "test/armed/disarming.slow.test.ts", "by DELETE, which needs no decision"],
  claimed: ["DELETE …/claim", "test/claims/claims.test.ts", "is released by its holder only"],
  deleted: null,
};

const operation: States = {
  running: ["the same call; a job continues it", MOVES, "the repeated call continues it"],
  queued: [
    "GitHub merges or removes it",
    "test/moves/merge-queue-removal.slow.test.ts",
    "is refused although",
  ],
  waiting: ["DELETE …/armed", "test/armed/disarming.slow.test.ts", "by DELETE, which needs no decision"],
  done: null,
  refused: null,
  abandoned: null,
};

const release: States = {
  open: ["DELETE, freeze, complete", "test/releases/releases.test.ts", "the scope of a release"],
  frozen: ["unfreeze, complete", FREEZE, "deletes the branches and allows scope changes again"],
  "with an unfinished operation": [
    "the same call; complete with other versions; DELETE",
    COMPLETE,
    "was interrupted, and continues",
  ],
  "frozen with picks": ["DELETE", COMPLETE, "can be given up by deleting the frozen release"],
  "partly tagged": ["complete with another tag", COMPLETE, "continues with another tag"],
  completed: null,
};

const cardOfPromotion: States = {
  pending: ["POST /v1/operations/{id}/cancel", CANCEL, "skips the other cards during an outage"],
  queued: [
    "GitHub merges or removes it",
    "test/moves/merge-queue-removal.slow.test.ts",
    "is refused although",
  ],
  promoted: null,
  refused: null,
  skipped: null,
};

const delivery: States = {
  waiting: ["the job of its lane", RETRIES, "that fail are retried until"],
  parked: ["a redelivery by GitHub or an operator", RETRIES, "that were parked are processed"],
  done: null,
};

const webhook: States = {
  maintainer: ["PATCH { paused: false }", PAUSES, "nothing is sent until it is resumed"],
  failing: ["PATCH { paused: false }", PAUSES, "when deliveries have failed for five days"],
  gone: ["PATCH { paused: false }", PAUSES, "when the receiver returns 410, until it is resumed"],
  left: ["PATCH { paused: false }", MEMBERS, "leaves no webhook running and no monitor"],
};

const monitor: States = {
  created: ["DELETE", "test/console/monitors.test.ts", "accepts no reports after it is removed"],
  stopped: ["POST …/rotate", MEMBERS, "leaves no webhook running and no monitor"],
  removed: null,
};

const ALL = { card, operation, release, cardOfPromotion, delivery, webhook, monitor };

describe("every state", () => {
  const left = Object.entries(ALL).flatMap(([subject, states]) =>
    Object.entries(states).flatMap(([state, way]) =>
      way === null ? [] : [[subject, state, ...way] as const],
    ),
  );
  it.each(left)("%s %s names a way out: %s", (_, __, ___, file, title) => {
    expect(textOf(file)).toContain(title);
  });

  it.each([
    ["operations", "state", operation],
    ["release_promotions", "state", cardOfPromotion],
    ["deliveries", "state", delivery],
    ["webhooks", "paused_reason", webhook],
  ])("of the table %s is known here", (table, column, states) => {
    const [, body = ""] = new RegExp(`create table ${table} \\(([\\s\\S]*?)\\n\\);`).exec(migrations()) ?? [];
    const [, listed = ""] = new RegExp(`check \\(${column} in \\(([^)]*)\\)`).exec(body) ?? [];
    const found = [...listed.matchAll(/'(\w+)'/g)].map(([, state]) => state ?? "");
    expect(found.toSorted()).toEqual(Object.keys(states).toSorted());
  });
});

const migrations = (): string =>
  ["0005_forge", "0006_moves", "0007_releases", "0011_webhooks"]
    .map((name) => textOf(`migrations/${name}.sql`))
    .join("\n");
