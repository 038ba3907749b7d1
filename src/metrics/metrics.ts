import { Gauge, Registry, collectDefaultMetrics, Counter, Histogram } from "prom-client";

/** A rate limit of one installation, from GitHub's last response. */
export interface InstallationRateLimit {
  readonly installation: string;
  /** `core` for REST. */
  readonly resource: string;
  readonly remaining: number;
  /** When GitHub resets it, in seconds since 1970. */
  readonly resetAt: number;
}

interface Budgets {
  record(budget: InstallationRateLimit): void;
}

/** The last known rate limits. Each is dropped at its reset, so removed installations disappear. */
function createBudgets(registry: Registry, now: () => number = Date.now): Budgets {
  const latest = new Map<string, InstallationRateLimit>();
  const gauge = new Gauge({
    name: "trunkline_forge_budget_remaining",
    help: "Calls that GitHub still allows an installation until the rate limit resets, as of its last response.",
    labelNames: ["installation", "resource"],
    registers: [registry],
    collect: () => {
      gauge.reset();
      for (const [key, { installation, resource, remaining, resetAt }] of latest) {
        if (resetAt * 1_000 < now()) latest.delete(key);
        else gauge.set({ installation, resource }, remaining);
      }
    },
  });
  return {
    record: (budget) => void latest.set(`${budget.installation} ${budget.resource}`, budget),
  };
}

/** A limit that protects the process. */
export type LimitReached = "connections" | "unverified_bodies" | "call_bodies" | "board_streams";

/**
 * The metrics of this process. Labels have few values and name no tenant, except the rate limits,
 * which are per installation.
 */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<"method" | "route" | "status">;
  readonly requestSeconds: Histogram<"method" | "route">;
  readonly replays: Counter;
  readonly moves: Counter<"outcome">;
  readonly refusals: Counter<"reason">;
  readonly deliveries: Counter<"source" | "result">;
  readonly diskFull: Gauge;
  readonly limits: Counter<"limit">;
  readonly forgeSeconds: Histogram<"route" | "result">;
  readonly rateLimits: Budgets;
  /** Queue statistics from the database; every process reports the same. */
  readonly queueStatistics: QueueGauges;
}

type QueueGauges = Readonly<
  Record<
    | "databaseUp"
    | "queueDepth"
    | "queueAge"
    | "failedJobs"
    | "waiting"
    | "waitingAge"
    | "parked"
    | "eventsAge"
    | "webhooksAge"
    | "webhooksPaused",
    Gauge
  >
>;

/** From a fast database read to the timeout of GitHub calls. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates every metric, so that all are present from the start. */
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
    requests: counter("http_requests_total", "Responses, by route template.", ["method", "route", "status"]),
    requestSeconds: seconds("http_request_duration_seconds", "Duration of requests in seconds.", [
      "method",
      "route",
    ]),
    replays: counter("idempotent_replays_total", "Responses replayed for a repeated Idempotency-Key."),
    moves: counter("moves_total", "Moves by outcome: moved, queued, waiting, refused or unfinished.", [
      "outcome",
    ]),
    refusals: counter("move_refusals_total", "Refused moves by reason.", ["reason"]),
    deliveries: counter(
      "deliveries_total",
      "Deliveries received as a webhook or read from GitHub's log. Known ones change nothing; refused ones have a wrong signature.",
      ["source", "result"],
    ),
    diskFull: gauge("database_disk_full", "1 if PostgreSQL had no room on its disk in the last 15 seconds."),
    limits: counter(
      "limits_reached_total",
      "Requests and connections that a limit of the process has ended or refused, by limit.",
      ["limit"],
    ),
    forgeSeconds: seconds(
      "forge_request_duration_seconds",
      "Duration of calls to GitHub in seconds. The result is the status, or no_response.",
      ["route", "result"],
    ),
    rateLimits: createBudgets(registry),
    queueStatistics: {
      databaseUp: gauge("database_up", "1 if the database responded to this request, else 0."),
      queueDepth: gauge("queue_depth", "Due jobs that wait for a worker."),
      queueAge: gauge("queue_age_seconds", "Seconds since the oldest waiting job was due."),
      failedJobs: gauge("jobs_failed", "Jobs that failed permanently, after their last attempt."),
      waiting: gauge("deliveries_waiting", "Stored deliveries that are not yet processed."),
      waitingAge: gauge(
        "deliveries_waiting_age_seconds",
        "Seconds since the oldest waiting delivery was received.",
      ),
      eventsAge: gauge(
        "events_unnumbered_age_seconds",
        "Seconds since the oldest event without a number was written.",
      ),
      webhooksAge: gauge(
        "webhooks_backlog_age_seconds",
        "Seconds since the oldest event was numbered that a webhook has not received.",
      ),
      webhooksPaused: gauge("webhooks_paused", "Webhooks that the service has paused."),
      parked: gauge("deliveries_parked", "Deliveries parked after too many failures."),
    },
  };
}

/** A finished HTTP request to GitHub. */
export interface ForgeRequest {
  /** The installation's id, `app` or `nobody`. */
  readonly account: string;
  /** The path template, without values. */
  readonly route: string;
  /** Null when no response came. */
  readonly status: number | null;
  readonly headers: Headers;
  readonly seconds: number;
}

/** Records the duration of calls to GitHub, and its rate limits. */
export const observeForgeRequests =
  (metrics: Metrics) =>
  ({ account, route, status, headers, seconds }: ForgeRequest): void => {
    metrics.forgeSeconds.observe({ route, result: String(status ?? "no_response") }, seconds);
    const remaining = numberIn(headers.get("x-ratelimit-remaining"));
    const resetAt = numberIn(headers.get("x-ratelimit-reset"));
    if (remaining === null || resetAt === null || !/^\d+$/.test(account)) return;
    const resource = headers.get("x-ratelimit-resource") ?? "core";
    metrics.rateLimits.record({ installation: account, resource, remaining, resetAt });
  };

function numberIn(header: string | null): number | null {
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}
