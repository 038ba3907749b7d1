import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { createBudgets, type Budgets } from "./budgets.ts";

/**
 * What this process counts, for Prometheus. Every label has few values and none names a tenant, but for the forge's budget, which is an
 * installation's.
 */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<"method" | "route" | "status">;
  readonly requestSeconds: Histogram<"method" | "route">;
  readonly replays: Counter;
  readonly moves: Counter<"outcome">;
  readonly refusals: Counter<"reason">;
  readonly deliveries: Counter<"source" | "result">;
  readonly forgeSeconds: Histogram<"route" | "result">;
  readonly budgets: Budgets;
  /** What the database says when it is asked; the same from every process. */
  readonly standing: Standing;
}

export type Standing = Readonly<
  Record<"databaseUp" | "queueDepth" | "queueAge" | "failedJobs" | "waiting" | "waitingAge" | "parked", Gauge>
>;

/** From a database's millisecond to the forge's patience. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The numbers of one process, all of them there from the start. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `trunkline_${name}`, help, registers });
  const counter = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> => new Counter({ name: `trunkline_${name}`, help, labelNames, registers });
  const seconds = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): Histogram<Label> =>
    new Histogram({ name: `trunkline_${name}`, help, labelNames, buckets: SECONDS, registers });
  return {
    registry,
    requests: counter("http_requests_total", "Requests answered, by the route's template.", [
      "method",
      "route",
      "status",
    ]),
    requestSeconds: seconds("http_request_duration_seconds", "How long requests took to answer.", [
      "method",
      "route",
    ]),
    replays: counter("idempotent_replays_total", "Answers given again for a repeated Idempotency-Key."),
    moves: counter("moves_total", "Moves that ended: moved, queued, refused, or unfinished for now.", [
      "outcome",
    ]),
    refusals: counter("move_refusals_total", "What stood in the way of refused moves.", ["reason"]),
    deliveries: counter(
      "deliveries_total",
      "Deliveries taken in, as a webhook or from the forge's log; known ones change nothing, refused ones are not signed with our secret.",
      ["source", "result"],
    ),
    forgeSeconds: seconds(
      "forge_request_duration_seconds",
      "How long the forge took to answer; the result is its status, or no_answer.",
      ["route", "result"],
    ),
    budgets: createBudgets(registry),
    standing: {
      databaseUp: gauge("database_up", "1 where the database answered when this was asked."),
      queueDepth: gauge("queue_depth", "Jobs that are due and wait for a worker."),
      queueAge: gauge("queue_age_seconds", "How long the longest waiting of them has been due."),
      failedJobs: gauge("jobs_failed", "Jobs given up after their last try."),
      waiting: gauge("deliveries_waiting", "Deliveries kept and not yet worked."),
      waitingAge: gauge("deliveries_waiting_age_seconds", "How long ago the oldest of them came in."),
      parked: gauge("deliveries_parked", "Deliveries set aside after too many failures."),
    },
  };
}
