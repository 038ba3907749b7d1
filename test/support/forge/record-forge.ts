import type { RunningForge } from "../../../sandbox/forge/start-forge.ts";
import { responseMismatches, operationOf, requestMismatches, webhookMismatches } from "./github-contract.ts";

/** Everything a forge sent during a recording, validated with GitHub's descriptions. */
export interface Recording {
  /** The statuses of each operation, such as `get /repos/{owner}/{repo}`. */
  readonly operations: ReadonlyMap<string, ReadonlySet<number>>;
  /** The webhooks, such as `pull_request opened`. */
  readonly webhooks: ReadonlySet<string>;
  /** The differences, each once. */
  readonly mismatches: readonly string[];
  stop(): void;
}

/** Validates all messages of a forge, so the forge must not have injected faults. */
export function recordForge(forge: RunningForge): Recording {
  const operations = new Map<string, Set<number>>();
  const webhooks = new Set<string>();
  const mismatches = new Set<string>();
  const note = (subject: string, found: readonly string[]) => {
    for (const each of found) mismatches.add(`${subject}: ${each}`);
  };
  const stop = forge.control.observe({
    onResponse(call, { status, body }) {
      if (call.route === "POST /graphql") return;
      const operation = operationOf(call.method, call.path);
      // An unknown path is 404.
      if (operation === undefined && call.route === null) return;
      const statuses = operations.get(operation ?? call.path) ?? new Set<number>();
      operations.set(operation ?? call.path, statuses.add(status));
      note(
        `${status} to ${call.method} ${operation ?? call.path}`,
        responseMismatches(call.method, call.path, status, asSent(body)),
      );
      if (status < 300 && call.body.length > 0) {
        const sent: unknown = JSON.parse(call.body.toString("utf8"));
        note(`request ${call.method} ${operation}`, requestMismatches(call.method, call.path, sent));
      }
    },
    onDelivery({ event, action, body }) {
      webhooks.add(action === null ? event : `${event} ${action}`);
      const payload: unknown = JSON.parse(body);
      note(`webhook ${event} ${action ?? ""}`.trim(), webhookMismatches(event, action ?? undefined, payload));
    },
  });
  return {
    operations,
    webhooks,
    get mismatches() {
      return [...mismatches];
    },
    stop,
  };
}

/** The body as a caller reads it: the forge sends objects as JSON. */
function asSent(body: unknown): unknown {
  return typeof body === "object" && body !== null ? JSON.parse(JSON.stringify(body)) : body;
}
