/** The dashboard, the alert rules and the guide must name existing metrics, labels and log messages. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The labels of each exposed series, by its name. */
const exposed = new Map<string, readonly string[]>();
for (const metric of createMetrics().registry.getMetricsAsArray()) {
  // prom-client's types omit the metrics of a registry.
  const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] };
  if (String(metric.type) !== "histogram") exposed.set(name, labelNames);
  else for (const part of ["bucket", "count", "sum"]) exposed.set(`${name}_${part}`, labelNames);
}

/** Labels that Prometheus adds. */
const ADDED = ["job", "instance", "le"];
const WORDS = new Set(["by", "without", "on", "ignoring", "and", "or", "unless", "bool", "offset"]);

/** The metrics and labels in a PromQL expression. */
function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  const labels: string[] = [];
  const rest = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/\{([^}]*)\}/g, (_, matchers: string) => {
      for (const [, label = ""] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) labels.push(label);
      return "";
    })
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, list: string) => {
      labels.push(...list.split(",").map((label) => label.trim()));
      return "";
    })
    .replaceAll(/\[[^\]]*\]/g, "");
  const metrics = [...rest.matchAll(/\b[a-zA-Z_]\w*\b(?!\s*\()/g)].map(([name]) => name);
  return { metrics: metrics.filter((name) => !WORDS.has(name)), labels };
}

/** Names in an expression that the service does not expose. */
function unknownIn(expression: string): string[] {
  const { metrics, labels } = namesIn(expression);
  const known = new Set([...ADDED, ...metrics.flatMap((name) => exposed.get(name) ?? [])]);
  const isRead = metrics.length > 0 ? [] : [`no metric in ${expression}`];
  return [...isRead, ...metrics.filter((name) => !exposed.has(name)), ...labels.filter((l) => !known.has(l))];
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const dashboard = JSON.parse(textOf("deploy/grafana-dashboard.json")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
};
const alerts = parse(textOf("deploy/prometheus-alerts.yaml")) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};
const rules = alerts.groups.flatMap((group) => group.rules);
const guide = textOf("docs/operating.md");

describe("namesIn", () => {
  it("finds metrics and labels, also those that do not exist", () => {
    const expression =
      'sum by (le, route) (rate(trunkline_moved_total{job=~"$job",outcom="x by (y)"}[5m])) / 2';
    expect(namesIn(expression)).toEqual({
      metrics: ["trunkline_moved_total"],
      labels: ["job", "outcom", "le", "route"],
    });
    expect(unknownIn(expression)).toEqual(["trunkline_moved_total", "outcom", "route"]);
    expect(unknownIn("sum(rate([5m]))")).toEqual(["no metric in sum(rate([5m]))"]);
  });
});

describe("deploy/grafana-dashboard.json", () => {
  const charts = dashboard.panels.filter(({ type }) => type !== "row");

  it("reads only metrics and labels that the service exposes", () => {
    const expressions = charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(20);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
    const legends = charts.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr, legendFormat }) =>
        [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].filter(([, label = ""]) => !expr.includes(label)),
      ),
    );
    expect(legends.filter(([, label]) => label !== "instance")).toEqual([]);
  });

  it("shows every metric of Trunkline", () => {
    const base = (name: string): string => name.replace(/_(bucket|count|sum)$/, "");
    const targets = charts.flatMap((chart) => chart.targets ?? []);
    const shown = new Set(targets.flatMap(({ expr }) => namesIn(expr).metrics).map(base));
    const own = [...exposed.keys()].filter((name) => name.startsWith("trunkline_")).map(base);
    expect(own.filter((name) => !shown.has(name))).toEqual([]);
  });

  it("fills its job variable from a metric that the service exposes", () => {
    const queries = dashboard.templating.list.map(({ query }) => JSON.stringify(query));
    const [, metric = ""] = /label_values\((\w+), job\)/.exec(queries.join()) ?? [];
    expect(exposed.has(metric)).toBe(true);
  });

  it("has unique panels with a query, which do not overlap", () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(charts.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
    const overlaps = dashboard.panels.flatMap((one, at) =>
      dashboard.panels.slice(at + 1).filter(({ gridPos: b }) => {
        const { gridPos: a } = one;
        return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
      }),
    );
    expect(overlaps).toEqual([]);
  });
});

describe("deploy/prometheus-alerts.yaml", () => {
  it("reads only metrics and labels that the service exposes", () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(rules.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  });

  it("covers full disks, reached limits, and webhooks that are turned away", () => {
    const reading = (text: string) => rules.filter(({ expr }) => expr.includes(text));
    for (const metric of ["trunkline_database_disk_full", "trunkline_limits_reached_total"])
      expect(reading(metric)).toHaveLength(1);
    const [turnedAway] = reading(`route="${WEBHOOK_PATH}",status=~`);
    const [, statuses = ""] = /status=~"([^"]+)"/.exec(turnedAway?.expr ?? "") ?? [];
    const isTurnedAway = (status: string) => new RegExp(`^(?:${statuses})$`).test(status);
    expect(["408", "503", "202", "401"].map(isTurnedAway)).toEqual([true, true, false, false]);
  });

  it("has a unique name, a severity, a summary and an instruction for each alert", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, for: pending = "0m", labels, annotations } of rules) {
      expect(alert).toMatch(/^Trunkline[A-Z]\w+$/);
      expect(pending).toMatch(/^\d+[mh]$/);
      expect(["critical", "warning"]).toContain(labels.severity);
      for (const text of [annotations.summary, annotations.description]) expect(text).toMatch(/^\S.*\.$/);
    }
  });
});

describe("docs/operating.md", () => {
  it("lists every metric of Trunkline with its labels", () => {
    const listed = [...guide.matchAll(/^\| `(trunkline_\w+?)(?:\{([\w,]+)\})?`/gm)].map(
      ([, name = "", labels = ""]) => [name, labels.split(",").filter((label) => label !== "")] as const,
    );
    const own = [...exposed]
      .filter(([name]) => /^trunkline_(?!.*_(bucket|count)$)/.test(name))
      .map(([name, labels]) => [name.replace(/_seconds_sum$/, "_seconds"), labels] as const);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(own));
    expect(listed).toHaveLength(own.length);
  });

  it("and the alerts quote log messages that a process writes", () => {
    const files = readdirSync(join(ROOT, "src"), { recursive: true }).map(String);
    const worker = readdirSync(join(ROOT, "node_modules/graphile-worker/dist")).map(
      (name) => `node_modules/graphile-worker/dist/${name}`,
    );
    const sources = [...files.map((name) => `src/${name}`), ...worker].filter((n) => /\.(ts|js)$/.test(n));
    const written = sources.map(textOf).join("\n");
    const [, table = ""] = guide.split("\n### Logs\n");
    const messages = [...table.split("\n## ")[0]!.matchAll(/^\| `([^`]+)`/gm)].map(
      ([, message = ""]) => message,
    );
    const quoted = rules.flatMap(({ annotations }) =>
      [...annotations.description.matchAll(/"([^"]+)"/g)].map(([, message = ""]) => message),
    );
    expect([messages.length > 5, quoted.length > 0]).toEqual([true, true]);
    expect([...messages, ...quoted].filter((message) => !written.includes(message))).toEqual([]);
  });
});
