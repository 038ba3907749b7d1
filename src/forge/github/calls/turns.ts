import { limited, type RateBudget, type Limits } from "./limits.ts";
import type { GitHubCall } from "./send-call.ts";
import type { MonotonicClock } from "./transport.ts";

export interface TurnRequest {
  readonly budget: RateBudget;
  /** The write creates content, for which GitHub has a lower limit. */
  readonly isContent: boolean;
  /** The longest acceptable wait. */
  readonly withinMs: number;
}

/** Paces the writes of all processes, since GitHub's limits apply to an installation. */
export interface Turns {
  /** Reserves the next free turn; `freeIn` seconds if that is later than `withinMs`. */
  take(
    installationId: number,
    request: TurnRequest,
  ): Promise<{ readonly waitMs: number } | { readonly freeIn: number }>;
  /** For how many more seconds GitHub limits these calls; 0 when it does not. */
  limitedFor(installationId: number, budget: RateBudget): Promise<number>;
  /** Shares a limit with the other processes; `budget` is null for all calls. */
  limit(installationId: number, budget: RateBudget | null, seconds: number): Promise<void>;
}

export interface Pacing {
  readonly limits: Limits;
  /** Null when calls are not paced. */
  readonly turns: Turns | null;
  readonly clock: MonotonicClock;
}

/** The part of a call's time that is not spent on waiting for its turn. */
const CALL_ITSELF_MS = 5_000;

/** How long a check of the shared limits is valid. */
const CHECK_VALID_MS = 250;

/**
 * Waits until the installation may be called, or throws when that takes too long. Returns when the
 * shared limits were last checked.
 */
export async function awaitTurn({ turns, clock }: Pacing, call: GitHubCall): Promise<number> {
  const { account, kind: budget } = call;
  const startedAt = clock.now();
  if (turns === null || typeof account !== "number") return startedAt;
  if (call.isWrite) {
    const left = call.deadline - clock.now();
    const isContent = isContentWrite({ ...call, document: String(call.parameters["query"]) });
    const withinMs = Math.max(0, left - Math.min(CALL_ITSELF_MS, left / 2));
    const turn = await turns.take(account, { budget, isContent, withinMs });
    if ("freeIn" in turn) throw limited(turn.freeIn);
    if (turn.waitMs === 0) return startedAt;
    await clock.sleep(turn.waitMs);
  }
  // GitHub may have limited another process during the wait.
  const checkedAt = clock.now();
  await checkShared(turns, account, budget);
  return checkedAt;
}

async function checkShared(turns: Turns, account: number, budget: RateBudget): Promise<void> {
  const seconds = await turns.limitedFor(account, budget);
  if (seconds > 0) throw limited(seconds);
}

/** Throws if GitHub limited the account since, for example while the call waited for a token. */
export async function assertNotLimited(
  { limits, turns, clock }: Pacing,
  call: GitHubCall,
  checkedAt: number,
): Promise<void> {
  const { account, kind: budget } = call;
  if (turns !== null && typeof account === "number" && clock.now() - checkedAt > CHECK_VALID_MS) {
    await checkShared(turns, account, budget);
  }
  limits.check(String(account), budget);
}

/**
 * GitHub does not document which writes count as content. These are the ones in octokit's
 * throttling plugin, and the commits we create.
 */
const CONTENT_ROUTES: readonly RegExp[] = [
  /\/pulls$/,
  /\/pulls\/\{\w+\}\/(merge|merge-async)$/,
  /\/comments(\/\{\w+\})?$/,
  /\/releases$/,
  /\/(merges|git\/commits|git\/tags)$/,
];
const CONTENT_MUTATIONS = /\b(enqueuePullRequest|mergeBranch|mergePullRequest|createCommitOnBranch)\b/;

export function isContentWrite(
  call: Pick<GitHubCall, "kind" | "method" | "route"> & { readonly document?: string },
): boolean {
  if (call.kind === "graphql") return CONTENT_MUTATIONS.test(call.document ?? "");
  return call.method !== "DELETE" && CONTENT_ROUTES.some((route) => route.test(call.route));
}
