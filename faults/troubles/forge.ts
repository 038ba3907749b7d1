import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../../src/sandbox/forge/control/faults.ts";
import type { CallMatch } from "../../src/sandbox/forge/control/match.ts";
import type { Dice } from "../dice.ts";
import type { History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";

const WEIGHTS = {
  status: 6,
  reset: 4,
  slow: 2,
  hang: 1,
  garble: 2,
  early: 4,
  limit: 1,
  undecided: 2,
  stale: 2,
  revoke: 1,
  unauthorized: 1,
  suspend: 1,
} as const;

/** Lets the forge fail in every way it can, now for one installation, now for another. */
export async function troubleForge(
  world: FaultWorld,
  dice: Dice,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  const { state } = world.forge.context;
  while (!isOver()) {
    await sleep(dice.between(50, 700));
    const installation = dice.pick(state.installations.all());
    if (!installation || isOver()) return;
    const name = dice.weighted(WEIGHTS);
    history.event("fault", `forge: ${name}`, { installation: installation.id });
    if (name === "revoke") world.forge.control.revokeTokens(installation.id);
    else if (name === "suspend")
      await suspend(world, state.accounts.need(installation.accountId).login, dice);
    else if (name === "stale") await beStale(world, dice);
    else addFault(world, installation.id, name, dice);
  }
}

async function suspend({ forge, boards }: FaultWorld, account: string, dice: Dice): Promise<void> {
  if (!dice.chance(0.4) || !boards.some(({ owner }) => owner === account)) return;
  const by = `ada-${account.slice(4)}`;
  forge.pages.setSuspended(account, true, by);
  await sleep(dice.between(200, 1_500));
  forge.pages.setSuspended(account, false, by);
}

async function beStale({ forge }: FaultWorld, dice: Dice): Promise<void> {
  forge.control.staleReads({ seconds: dice.between(1, 3) });
  await sleep(dice.between(500, 2_000));
  forge.control.staleReads(null);
}

/** The next calls of an installation meet this fault. */
function addFault({ forge }: FaultWorld, installationId: number, name: string, dice: Dice): void {
  const { faults } = forge.control;
  const effect = dice.pick(["before", "after"] as const) ?? "before";
  const times = dice.weighted({ "1": 5, "2": 2, "4": 1 });
  const match: CallMatch = { installationId, ...dice.pick(PLACES) };
  const add = (fault: Fault, count = Number(times)): void => void faults.add({ match, fault, times: count });
  switch (name) {
    case "status":
      return add({ kind: "answer", status: dice.pick([500, 502, 503, 504]) ?? 502, effect });
    case "reset":
      return add({ kind: "reset", effect });
    case "slow":
      return add({ kind: "delay", ms: dice.between(500, 4_000), effect });
    case "hang":
      return add({ kind: "hang", effect }, 1);
    case "garble":
      return add({ kind: "garble", as: dice.pick(["html", "truncated", "empty"] as const) ?? "html" });
    case "early":
      // What the call caused is told before the call is answered.
      return add({ kind: "delay", ms: 1_500, effect: "after" });
    case "limit":
      return add(
        dice.chance(0.5)
          ? { kind: "rate-limit", limit: "primary", resetIn: dice.between(1, 3) }
          : {
              kind: "rate-limit",
              limit: dice.pick(["secondary", "content"] as const) ?? "secondary",
              retryAfter: dice.between(1, 3),
            },
        1,
      );
    case "unauthorized":
      return add({ kind: "answer", status: 401, body: { message: "Bad credentials" } }, 1);
    default:
      return add({ kind: "mergeability-unknown" }, 3);
  }
}

/** Where it fails: anywhere, or at the calls that change something. */
const PLACES: readonly CallMatch[] = [
  {},
  { method: "POST", path: "/repositories/**" },
  { method: "PUT", path: "/repositories/**" },
  { method: "DELETE", path: "/repositories/**" },
  { path: "/graphql" },
];

export function endForgeTroubles({ forge }: FaultWorld): void {
  forge.control.faults.clear();
  forge.control.staleReads(null);
}
