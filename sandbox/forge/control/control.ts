import type { ForgeContext, ForgeSettings } from "../context.ts";
import type { ApiCall, AroundCall, ForgeHooks } from "../hooks.ts";
import type { ForgeResponse } from "../server/api-error.ts";
import type { AroundDelivery, OutgoingDelivery } from "../webhooks/delivery-log.ts";
import { CallCounter } from "./call-counts.ts";
import { DeliveryFaults } from "./delivery-faults.ts";
import { Faults, applyFaults, type Fault } from "./faults.ts";
import { isGraphql, type CallMatch } from "./match.ts";
import { sendWebhook, type CustomWebhook, type WebhookReceipt } from "./send-webhook.ts";
import { LimitedInstallations } from "./limited-installations.ts";
import { rateLimitResponse, type RateLimit } from "./rate-limit.ts";
import { StaleReads, type StaleReadSettings } from "./stale-reads.ts";
import { makeWebUi, type WebUi } from "../web-ui.ts";

interface Observer {
  /** Called with each API call when it arrives. */
  readonly onCall?: (call: ApiCall) => void;
  /** Called with each response as sent, including faults. */
  readonly onResponse?: (call: ApiCall, response: ForgeResponse) => void;
  /** Called with each webhook as sent, including faults. */
  readonly onDelivery?: (delivery: OutgoingDelivery) => void;
}

/** Injects faults into the forge and observes its calls. */
export interface ForgeControl {
  readonly faults: Faults;
  readonly webhooks: DeliveryFaults;
  readonly calls: CallCounter;
  /** The limits of installations by `rate-limit` faults, with the calls that violated them. */
  readonly limits: LimitedInstallations;
  /** Replaces the responses to the next matching calls, which are not run; `"pass"` runs one. */
  script(match: CallMatch, responses: readonly (ScriptedResponse | "pass")[]): void;
  /** Makes reads lag behind writes; null stops it. */
  setStaleReads(settings: StaleReadSettings | null): void;
  /** Makes reads lag from now on, for a change that is no API call, such as a push. */
  takeSnapshot(): Promise<void>;
  /** The App's installations with the logins of their accounts. */
  installations(): { readonly id: number; readonly account: string }[];
  /** Revokes all tokens of an installation; returns their number. */
  revokeTokens(installationId: number): number;
  /** Sends a signed webhook with any content, without the delivery log and the fault rules. */
  sendWebhook(webhook: CustomWebhook): Promise<WebhookReceipt>;
  /** Seeds the random numbers of webhook faults, so that a run is repeatable. */
  seed(seed: number): void;
  /** Features and limits of GitHub. They stay until they are changed. */
  readonly settings: ForgeSettings;
  /** Merge queues, rulesets and plans, which GitHub has no calls for. */
  readonly webUi: WebUi;
  /** Returns a function that stops the observer. */
  observe(observer: Observer): () => void;
  /** Removes faults, stale reads, limits and call counts, and discards held webhooks. */
  reset(): void;
}

type ScriptedResponse = Omit<Extract<Fault, { kind: "response" }>, "kind" | "effect">;

interface Parts extends Pick<ForgeControl, "faults" | "webhooks" | "calls" | "limits"> {
  readonly staleReads: StaleReads;
  readonly observers: Set<Observer>;
}

/** The control of a forge that has not started yet: pass it `hooks`, then `attach` it. */
interface UnattachedControl {
  readonly hooks: ForgeHooks;
  attach(forge: ForgeContext): ForgeControl;
}

/** `inner` hooks run inside the faults. */
export function makeControl(inner: ForgeHooks = {}): UnattachedControl {
  let forge: ForgeContext | undefined;
  const needForge = (): ForgeContext => {
    if (forge === undefined) throw new Error("The forge has not started");
    return forge;
  };
  const installationOf = (call: ApiCall) => installationIdOf(needForge(), call);
  const faults = new Faults(installationOf);
  const webhooks = new DeliveryFaults((id) => needForge().state.deliveries.delete(id));
  const calls = new CallCounter();
  const limits = new LimitedInstallations();
  const staleReads = new StaleReads(installationOf);
  const observers = new Set<Observer>();

  const aroundCall: AroundCall = async (call, proceed) => {
    calls.add(call);
    for (const each of observers) each.onCall?.(call);
    const run = async () => {
      await staleReads.beforeCall(call, needForge());
      const snapshot = staleReads.snapshotFor(call);
      return inner.aroundCall === undefined
        ? proceed(snapshot)
        : inner.aroundCall(call, () => proceed(snapshot));
    };
    const installationId = installationOf(call);
    const refuse = (limit: RateLimit) =>
      rateLimitResponse(limit, { installationId, isGraphql: isGraphql(call) }, new Date());
    const violated = installationId === null ? null : limits.violatedBy(call, installationId);
    const outcome =
      violated !== null
        ? refuse(violated)
        : await applyFaults(faults.take(call), run, (limit) => {
            if (installationId !== null) limits.impose(installationId, limit);
            return refuse(limit);
          });
    if (typeof outcome !== "string") for (const each of observers) each.onResponse?.(call, outcome);
    return outcome;
  };
  const aroundDelivery: AroundDelivery = (delivery, send) =>
    webhooks.around(delivery, (sent) => {
      for (const each of observers) each.onDelivery?.(sent);
      return inner.aroundDelivery === undefined ? send(sent) : inner.aroundDelivery(sent, send);
    });

  return {
    hooks: { ...inner, aroundCall, aroundDelivery },
    attach(started) {
      forge = started;
      return controlOf(started, { faults, webhooks, calls, limits, staleReads, observers });
    },
  };
}

function controlOf(
  forge: ForgeContext,
  { faults, webhooks, calls, limits, staleReads, observers }: Parts,
): ForgeControl {
  const { accounts, installations, tokens } = forge.state;
  return {
    faults,
    webhooks,
    calls,
    limits,
    script(match, responses) {
      for (const response of responses) {
        const fault: Fault = response === "pass" ? { kind: "none" } : { kind: "response", ...response };
        faults.add({ match, fault, times: 1 });
      }
    },
    setStaleReads: (settings) => staleReads.set(settings),
    takeSnapshot: () => staleReads.takeSnapshot(forge),
    installations: () =>
      installations.all().map(({ id, accountId }) => ({ id, account: accounts.need(accountId).login })),
    revokeTokens(installationId) {
      const revoked = tokens.all().filter((token) => token.installationId === installationId);
      for (const token of revoked) tokens.delete(token.id);
      return revoked.length;
    },
    sendWebhook: (webhook) => sendWebhook(forge, webhook),
    seed: (seed) => webhooks.seed(seed),
    settings: forge.settings,
    webUi: makeWebUi(forge),
    observe(observer) {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    reset() {
      faults.clear();
      webhooks.clear();
      webhooks.discard();
      staleReads.set(null);
      calls.reset();
      limits.clear();
    },
  };
}

/** The installation whose token a call uses or requests. */
export function installationIdOf(forge: ForgeContext, call: ApiCall): number | null {
  const { authorization } = call.headers;
  const secret = typeof authorization === "string" ? authorization.replace(/^\w+\s+/, "").trim() : "";
  const [token] = forge.state.tokens.inGroup(secret);
  if (token !== undefined) return token.installationId;
  const requestedId = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(call.path)?.[1];
  return requestedId === undefined ? null : Number(requestedId);
}
