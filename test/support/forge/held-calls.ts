import type { CallMatch } from "../../../sandbox/forge/control/match.ts";
import { eventually } from "../api.ts";
import type { TestWorld } from "../world.ts";

/** The forge delays these calls until they are released. */
export function holdCalls(
  { forge }: Pick<TestWorld, "forge">,
  match: CallMatch,
  effect: "before" | "after" = "after",
  times = 1,
) {
  const { faults } = forge.control;
  const id = faults.add({ match, fault: { kind: "hold", effect }, times });
  return {
    /** Resolves when all of them have arrived. */
    arrived: () =>
      eventually(
        () => Promise.resolve(faults.list()),
        (rules) => rules.find((rule) => rule.id === id)?.hits === times,
      ),
    resume: () => faults.remove(id),
  };
}
