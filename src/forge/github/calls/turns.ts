import { type Limits, limitedFor } from "./limits.ts";
import type { GitHubCall } from "./send-call.ts";
import type { MonotonicClock } from "./transport.ts";

export interface TurnRequest {
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
}

export interface Pacing {
  readonly limits: Limits;
  /** Null when calls are not paced. */
  readonly turns: Turns | null;
  readonly clock: MonotonicClock;
}

/** The time left for the call itself after its turn, in milliseconds. */
const CALL_ITSELF_MS = 5_000;

/** Waits for the turn of a write, or throws when that takes too long. */
export async function awaitTurn({ limits, turns, clock }: Pacing, call: GitHubCall): Promise<void> {
  const { account } = call;
  if (turns === null || typeof account !== "number" || !call.isWrite) return;
  // A limited installation uses up no turns.
  await limits.check(String(account));
  const left = call.deadline - clock.now();
  const isContent = isContentWrite({ ...call, document: String(call.parameters["query"]) });
  const withinMs = Math.max(0, left - Math.min(CALL_ITSELF_MS, left / 2));
  const turn = await turns.take(account, { isContent, withinMs });
  if ("freeIn" in turn) throw limitedFor(turn.freeIn, clock.now());
  if (turn.waitMs > 0) await clock.sleep(turn.waitMs);
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
