import { Gauge, type Registry } from "prom-client";

/** What the forge said of one installation's hourly budget. */
export interface Budget {
  readonly installation: string;
  /** REST's is `core`. */
  readonly resource: string;
  readonly remaining: number;
  /** When it is full again, in seconds since 1970. */
  readonly resetAt: number;
}

export interface Budgets {
  heard(budget: Budget): void;
}

/** The budgets last heard of. One whose hour is over is full again and no longer told, so gone installations do not pile up. */
export function createBudgets(registry: Registry, now: () => number = Date.now): Budgets {
  const heard = new Map<string, Budget>();
  const gauge = new Gauge({
    name: "trunkline_forge_budget_remaining",
    help: "Calls the forge still allows an installation before its budget's hour ends, as it last said.",
    labelNames: ["installation", "resource"],
    registers: [registry],
    collect: () => {
      gauge.reset();
      for (const [key, { installation, resource, remaining, resetAt }] of heard) {
        if (resetAt * 1_000 < now()) heard.delete(key);
        else gauge.set({ installation, resource }, remaining);
      }
    },
  });
  return {
    heard: (budget) => void heard.set(`${budget.installation} ${budget.resource}`, budget),
  };
}
