import type { ForgeClock } from "./clock.ts";
import { limited, type Budget, type Limits } from "./limits.ts";
import type { Call } from "./send-call.ts";

/** A writing call that is about to be made. */
export interface TurnRequest {
  readonly budget: Budget;
  /** Whether it makes something people see, of which GitHub allows fewer. */
  readonly isContent: boolean;
  /** A later turn is no use to the caller. */
  readonly withinMs: number;
}

/**
 * Whose turn it is to call GitHub, kept for all processes together because GitHub counts an installation's calls as one. Nothing is held
 * while a turn is waited for.
 */
export interface Turns {
  /** Takes the next free turn: how long to wait for it, or in how many seconds there would be one. */
  take(
    installationId: number,
    request: TurnRequest,
  ): Promise<{ readonly waitMs: number } | { readonly freeIn: number }>;
  /** For how many seconds GitHub wants no calls of this kind; 0 when it does not mind. */
  heldFor(installationId: number, budget: Budget): Promise<number>;
  /** GitHub wants no calls for so long; of one kind, or none at all. */
  hold(installationId: number, budget: Budget | null, seconds: number): Promise<void>;
}

/** What decides when a call may be made. */
export interface Pacing {
  readonly limits: Limits;
  /** Null where calls are not paced. */
  readonly turns: Turns | null;
  readonly clock: ForgeClock;
}

/** Of what is left of a call's time, what the call itself is given once its turn has come. */
const CALL_ITSELF_MS = 5_000;

/** How long a look at the limits of the other processes stays good. */
const SEEN_LATELY_MS = 250;

/**
 * Waits until this installation may be called, whatever other processes do; throws when that would
 * take too long. Gives when it was last seen that GitHub holds nobody back.
 */
export async function awaitTurn({ turns, clock }: Pacing, call: Call): Promise<number> {
  const { account, kind: budget } = call;
  const begun = clock.now();
  if (turns === null || typeof account !== "number") return begun;
  if (call.isWrite) {
    const left = call.deadline - clock.now();
    const isContent = isContentWrite({ ...call, document: String(call.parameters["query"]) });
    const withinMs = Math.max(0, left - Math.min(CALL_ITSELF_MS, left / 2));
    const turn = await turns.take(account, { budget, isContent, withinMs });
    if ("freeIn" in turn) throw limited(turn.freeIn);
    if (turn.waitMs === 0) return begun;
    await clock.sleep(turn.waitMs);
  }
  // GitHub may have limited another process in the meantime.
  const seenAt = clock.now();
  await seeHeld(turns, account, budget);
  return seenAt;
}

async function seeHeld(turns: Turns, account: number, budget: Budget): Promise<void> {
  const seconds = await turns.heldFor(account, budget);
  if (seconds > 0) throw limited(seconds);
}

/**
 * Throws before a request where GitHub wants none by now: waiting for a token, an answer or a
 * repeat may have taken seconds.
 */
export async function assertNotHeld(
  { limits, turns, clock }: Pacing,
  call: Call,
  seenAt: number,
): Promise<void> {
  const { account, kind: budget } = call;
  if (turns !== null && typeof account === "number" && clock.now() - seenAt > SEEN_LATELY_MS) {
    await seeHeld(turns, account, budget);
  }
  limits.check(String(account), budget);
}

/**
 * Calls that create what people see, and that GitHub therefore counts more strictly. It does not publish which they are; these are the ones
 * octokit's throttling takes for such, and the commits we make ourselves.
 */
const CONTENT_ROUTES: readonly RegExp[] = [
  /\/pulls$/,
  /\/pulls\/\{\w+\}\/(merge|merge-async)$/,
  /\/comments(\/\{\w+\})?$/,
  /\/releases$/,
  /\/(merges|git\/commits|git\/tags)$/,
];
const CONTENT_MUTATIONS = /\b(enqueuePullRequest|mergeBranch|mergePullRequest|createCommitOnBranch)\b/;

/** Whether a writing call counts as content: a REST route's template, or a GraphQL document. */
export function isContentWrite(
  call: Pick<Call, "kind" | "method" | "route"> & { readonly document?: string },
): boolean {
  if (call.kind === "graphql") return CONTENT_MUTATIONS.test(call.document ?? "");
  return call.method !== "DELETE" && CONTENT_ROUTES.some((route) => route.test(call.route));
}
