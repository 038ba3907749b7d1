import type { BenchBoard } from "./seed.ts";
import type { Sides, Workload } from "./workloads.ts";

/** The inbox and the trunk report of a board with a year behind it: at most three times what their one statement takes. */
export function reportWorkloads({ service, floors }: Sides, board: BenchBoard): Workload[] {
  const headers = { authorization: `Bearer ${board.apiKey}` };
  return ["inbox", "trunk"].map((name) => ({
    name: `${name}, ${board.cards} cards and a year`,
    service: { url: service, method: "GET", paths: [`/v1/${name}`], headers },
    floor: { url: floors, method: "GET", paths: [`/${name}`], headers: {} },
    atLeast: { 1: 1 / 3, 16: 1 / 3 },
  }));
}
