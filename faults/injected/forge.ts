import { setTimeout as sleep } from "node:timers/promises";
import type { RateLimit } from "../../sandbox/forge/control/rate-limit.ts";
import type { Fault, FaultRule } from "../../sandbox/forge/control/faults.ts";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { addTallies, FAULT_HITS, type History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";

const WEIGHTS = {
  status: 6,
  reset: 4,
  slow: 2,
  hang: 1,
  garble: 2,
  early: 4,
  limit: 3,
  undecided: 2,
  stale: 2,
  revoke: 1,
  unauthorized: 1,
  suspend: 2,
  permissions: 2,
} as const;

/** Injects every kind of forge fault, each for a random installation. */
export async function injectForgeFaults(
  world: FaultWorld,
  random: SeededRandom,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  const { state } = world.forge.context;
  const { faults } = world.forge.control;
  const names = new Map<number, string>();
  while (!isOver()) {
    await sleep(random.between(50, 700));
    const installation = random.pick(state.installations.all());
    if (!installation || isOver()) break;
    const kind = random.weighted(WEIGHTS);
    const rule = chooseFault(kind, installation.id, random);
    const effect = rule && "effect" in rule.fault ? ` ${rule.fault.effect}` : "";
    const name = `forge: ${kind}${kind === "early" ? "" : effect}`;
    history.event("fault", name, { installation: installation.id, rule });
    if (rule) names.set(faults.add(rule), name);
    else if (kind === "revoke") world.forge.control.revokeTokens(installation.id);
    else if (kind === "stale") await readStale(world, random);
    else {
      const account = state.accounts.need(installation.accountId).login;
      await (kind === "suspend" ? suspend : restrictPermissions)(world, account, random);
    }
  }
  const hits = faults.list().map((fault) => ({ [names.get(fault.id) ?? ""]: fault.hits }));
  history.event("note", FAULT_HITS, addTallies(hits));
}

async function suspend({ forge, boards }: FaultWorld, account: string, random: SeededRandom): Promise<void> {
  if (!boards.some(({ owner }) => owner === account)) return;
  const by = `ada-${account.slice(4)}`;
  forge.webUi.setSuspended(account, true, by);
  await sleep(random.between(200, 1_500));
  forge.webUi.setSuspended(account, false, by);
}

/** An account allows less for a while, and then everything again. */
async function restrictPermissions(
  { forge, boards }: FaultWorld,
  account: string,
  random: SeededRandom,
): Promise<void> {
  if (!boards.some(({ owner }) => owner === account)) return;
  const by = `ada-${account.slice(4)}`;
  const { permissions } = forge.context.state.apps.need(forge.app.id);
  const name = random.weighted({ contents: 2, pull_requests: 1, workflows: 2 });
  const { [name]: _less, ...others } = permissions;
  const fewer = name === "workflows" ? others : { ...others, [name]: "read" as const };
  forge.webUi.acceptPermissions(account, fewer, by);
  await sleep(random.between(500, 3_000));
  forge.webUi.acceptPermissions(account, permissions, by);
}

async function readStale({ forge }: FaultWorld, random: SeededRandom): Promise<void> {
  forge.control.setStaleReads({ seconds: random.between(1, 3) });
  await sleep(random.between(500, 2_000));
  forge.control.setStaleReads(null);
}

/** A rule for the next calls of an installation; null if the fault does not concern calls. */
function chooseFault(
  kind: keyof typeof WEIGHTS,
  installationId: number,
  random: SeededRandom,
): FaultRule | null {
  const effect = random.pick(["before", "after"] as const) ?? "before";
  const times = Number(random.weighted({ "1": 5, "2": 2, "4": 1 }));
  const match: CallMatch = {
    installationId,
    ...MATCHES[random.weighted({ any: 3, graphql: 2, post: 3, put: 2, delete: 1 })],
  };
  const rule = (fault: Fault, count = times): FaultRule => ({ match, fault, times: count });
  switch (kind) {
    case "status":
      return rule({ kind: "response", status: random.pick([500, 502, 503, 504]) ?? 502, effect });
    case "reset":
      return rule({ kind: "reset", effect });
    case "slow":
      return rule({ kind: "delay", ms: random.between(500, 4_000), effect });
    case "hang":
      return rule({ kind: "hang", effect }, 1);
    case "garble":
      return rule({ kind: "garble", as: random.pick(["html", "truncated", "empty"] as const) ?? "html" });
    case "early":
      // The webhooks of the call arrive before its response.
      return rule({ kind: "delay", ms: 1_500, effect: "after" });
    case "limit":
      return rule({ kind: "rate-limit", ...chooseLimit(random) }, 1);
    case "unauthorized":
      return rule({ kind: "response", status: 401, body: { message: "Bad credentials" } }, 1);
    case "undecided":
      return rule({ kind: "mergeability-unknown" }, 3);
    default:
      return null;
  }
}

/** Every form in which GitHub reports a limit. Whether it is REST or GraphQL depends on the call. */
function chooseLimit(random: SeededRandom): RateLimit {
  const seconds = random.between(2, 4);
  const status = random.pick([200, 403, 429] as const) ?? 403;
  if (random.chance(0.5)) {
    const type = random.pick(["RATE_LIMITED", "RATE_LIMIT"] as const) ?? "RATE_LIMIT";
    return { limit: "primary", resetIn: seconds, type };
  }
  const limit = random.pick(["secondary", "content"] as const) ?? "secondary";
  return { limit, status, retryAfter: random.chance(0.2) ? null : seconds };
}

/** The calls that a fault applies to. */
const MATCHES = {
  any: {},
  graphql: { path: "/graphql" },
  post: { method: "POST", path: "/repositories/**" },
  put: { method: "PUT", path: "/repositories/**" },
  delete: { method: "DELETE", path: "/repositories/**" },
} as const satisfies Readonly<Record<string, CallMatch>>;

/** Ends the faults. Limits without a stated time last a minute, which is skipped. */
export async function endForgeFaults({ forge, record, deps: { db } }: FaultWorld): Promise<void> {
  forge.control.faults.clear();
  forge.control.setStaleReads(null);
  forge.control.limits.clear();
  record.endLimits();
  await db("forge_limits").update({ limited_until: db.fn.now() });
  await db("graphile_worker._private_jobs")
    .whereNull("locked_at")
    .whereRaw("run_at > now()")
    .update({ run_at: db.fn.now() });
}
