import type { ForgeContext } from "../context.ts";
import type { ApiCall, AroundCall, ForgeHooks } from "../hooks.ts";
import type { Answer } from "../server/api-error.ts";
import type { AroundDelivery, OutgoingDelivery } from "../webhooks/delivery-log.ts";
import { rateLimitResponse } from "./answers.ts";
import { CallCounter } from "./call-counts.ts";
import { DeliveryFaults } from "./delivery-faults.ts";
import { Faults, applyFaults, type Fault } from "./faults.ts";
import { isGraphql, type CallMatch } from "./match.ts";
import { seededRandom } from "./random.ts";
import { sendWebhook, type CustomWebhook, type WebhookReceipt } from "./send-webhook.ts";
import { LaggingReads, type StaleReads } from "./stale-reads.ts";

/** Sees everything the forge sends, without changing it. */
export interface Observer {
  /** A call as it came in, before anything is done about it. */
  readonly onCall?: (call: ApiCall) => void;
  /** An answer as it was written; faults included. */
  readonly onAnswer?: (call: ApiCall, answer: Answer) => void;
  /** A webhook as it was posted; faults included. */
  readonly onDelivery?: (delivery: OutgoingDelivery) => void;
}

/** How tests make the forge misbehave, and see what it was asked. */
export interface ForgeControl {
  /** What goes wrong with API calls. */
  readonly faults: Faults;
  /** What goes wrong with webhooks. */
  readonly webhooks: DeliveryFaults;
  readonly calls: CallCounter;
  /** Answers the next matching calls with these, one each, `"pass"` letting one through; nothing happens on the forge. */
  script(match: CallMatch, answers: readonly (ScriptedAnswer | "pass")[]): void;
  /** Makes reads lag behind writes; null ends it. */
  staleReads(wish: StaleReads | null): void;
  /** Makes reads lag from this moment: for a change that is no API call, such as a push. */
  keepStale(): Promise<void>;
  /** The App's installations, and on whose account each is. */
  installations(): { readonly id: number; readonly account: string }[];
  /** Ends every token of an installation; answers how many there were. */
  revokeTokens(installationId: number): number;
  /** Posts a webhook with any content, signed as the forge signs, past the delivery log and all rules. */
  sendWebhook(webhook: CustomWebhook): Promise<WebhookReceipt>;
  /** Starts the randomness of webhook faults again, so that a run can be repeated. */
  seed(seed: number): void;
  /** Answers the way to stop observing. */
  observe(observer: Observer): () => void;
  /** Everything back to good behaviour; kept webhooks are forgotten, observers stay. */
  reset(): void;
}

export type ScriptedAnswer = Omit<Extract<Fault, { kind: "answer" }>, "kind" | "effect">;

/** The control of a forge that is about to start: `hooks` go to the forge, `attach` ties it to the started one. */
export interface UnattachedControl {
  readonly hooks: ForgeHooks;
  attach(forge: ForgeContext): ForgeControl;
}

/** `inner` hooks sit closer to the forge: faults happen around them. */
export function makeControl(inner: ForgeHooks = {}): UnattachedControl {
  let forge: ForgeContext | undefined;
  const needForge = (): ForgeContext => {
    if (forge === undefined) throw new Error("the forge has not started");
    return forge;
  };
  const installationOf = (call: ApiCall) => installationIdOf(needForge(), call);
  let random = seededRandom(1);
  const faults = new Faults(installationOf);
  const webhooks = new DeliveryFaults(
    () => random(),
    (id) => needForge().state.deliveries.delete(id),
  );
  const calls = new CallCounter();
  const lagging = new LaggingReads(installationOf);
  const observers = new Set<Observer>();

  const aroundCall: AroundCall = async (call, proceed) => {
    calls.add(call);
    for (const each of observers) each.onCall?.(call);
    const go = async () => {
      await lagging.beforeCall(call, needForge());
      const view = lagging.snapshotFor(call);
      return inner.aroundCall === undefined ? proceed(view) : inner.aroundCall(call, () => proceed(view));
    };
    const outcome = await applyFaults(faults.take(call), go, (limit) =>
      rateLimitResponse(
        limit,
        { installationId: installationOf(call), isGraphql: isGraphql(call) },
        new Date(),
      ),
    );
    if (typeof outcome !== "string") for (const each of observers) each.onAnswer?.(call, outcome);
    return outcome;
  };
  const aroundDelivery: AroundDelivery = (delivery, send) =>
    webhooks.around(delivery, (sent) => {
      for (const each of observers) each.onDelivery?.(sent);
      return inner.aroundDelivery === undefined ? send(sent) : inner.aroundDelivery(sent, send);
    });

  const control: ForgeControl = {
    faults,
    webhooks,
    calls,
    script(match, answers) {
      for (const answer of answers) {
        const fault: Fault = answer === "pass" ? { kind: "none" } : { kind: "answer", ...answer };
        faults.add({ match, fault, times: 1 });
      }
    },
    staleReads: (wish) => lagging.set(wish),
    keepStale: () => lagging.takeSnapshot(needForge()),
    installations() {
      const { installations, accounts } = needForge().state;
      return installations
        .all()
        .map(({ id, accountId }) => ({ id, account: accounts.need(accountId).login }));
    },
    revokeTokens(installationId) {
      const { tokens } = needForge().state;
      const revoked = tokens.all().filter((token) => token.installationId === installationId);
      for (const token of revoked) tokens.delete(token.id);
      return revoked.length;
    },
    sendWebhook: (webhook) => sendWebhook(needForge(), webhook),
    seed(seed) {
      random = seededRandom(seed);
    },
    observe(observer) {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    reset() {
      faults.clear();
      webhooks.clear();
      webhooks.abandon();
      lagging.set(null);
      calls.reset();
    },
  };
  return {
    hooks: { ...inner, aroundCall, aroundDelivery },
    attach(started) {
      forge = started;
      return control;
    },
  };
}

/** The installation whose token a call is made with, or asks for. */
export function installationIdOf(forge: ForgeContext, call: ApiCall): number | null {
  const { authorization } = call.headers;
  const secret = typeof authorization === "string" ? authorization.replace(/^\w+\s+/, "").trim() : "";
  const [token] = forge.state.tokens.in(secret);
  if (token !== undefined) return token.installationId;
  const minting = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(call.path)?.[1];
  return minting === undefined ? null : Number(minting);
}
