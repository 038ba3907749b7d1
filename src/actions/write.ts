import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { busy } from "../errors.ts";
import type { Role } from "../flow/roles.ts";
import type { Trx } from "../store/db/connect.ts";
import { jsonOf, JsonText } from "../store/db/json-text.ts";
import { allInOrder, beginTransaction } from "../store/db/transaction.ts";
import {
  reserveKey,
  freeKey,
  storeResponse,
  type ReservationResult,
  type ReservedKey,
  type StoredResponse,
} from "../store/ops/idempotency.ts";
import type { CachedCredential } from "../store/tenancy/credentials.ts";
import type { Attempt } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import type { ResponseSeal } from "./sealed-text.ts";

/** The user and credential of a request, and its board. */
export interface Caller {
  readonly userId: string;
  readonly credentialId: string;
  readonly workspaceId: string;
  readonly role: Role;
  /** Whether a person makes the request, not an API key. */
  readonly isHuman: boolean;
  /** The same for a retry with the same idempotency key and content. */
  readonly requestId: string;
}

interface WriteRequest {
  readonly caller: Caller;
  readonly cached: CachedCredential;
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly attempt: Attempt;
  /** Seals the stored response, if that has a secret. */
  readonly seal: ResponseSeal | null;
}

/** The state of the idempotency key; `subject` is the result of `find`. */
type StartedWrite<Subject> =
  | { readonly state: "reserved"; readonly write: Write; readonly subject: Subject }
  | Exclude<ReservationResult, { readonly state: "reserved" }>;

/**
 * Begins a write in two round trips: opens its transaction, revalidates the credential, reserves the
 * idempotency key and finds the subject of the request. Throws `StaleCredential`, or what `find`
 * throws unless the key has a stored response.
 */
export async function startWrite<Subject>(
  deps: Deps,
  log: Logger,
  { caller, cached, key, fingerprint, attempt, seal }: WriteRequest,
  find: (trx: Trx) => Promise<Subject>,
): Promise<StartedWrite<Subject>> {
  const trx = await beginTransaction(deps.db);
  try {
    const { credentialId } = caller;
    const reserving = reserveKey(trx, cached, { credentialId, key, fingerprint, holder: deps.instanceId });
    const [reserved, found] = await Promise.allSettled([reserving, find(trx)]);
    if (reserved.status === "rejected") throw reserved.reason;
    if (reserved.value.state !== "reserved") {
      await trx.rollback();
      return reserved.value;
    }
    if (found.status === "rejected") throw found.reason;
    const write = new Write(deps, log, caller, reserved.value.reserved, trx, { attempt, seal });
    return { state: "reserved", write, subject: found.value };
  } catch (error) {
    await trx.rollback();
    throw error;
  }
}

/**
 * A running write. Its response is stored under the idempotency key in the same transaction as its
 * effect, so that a crash never leaves one without the other. So is the row of the audit log.
 */
export class Write implements Caller {
  readonly userId: string;
  readonly credentialId: string;
  readonly workspaceId: string;
  readonly role: Role;
  readonly isHuman: boolean;
  readonly requestId: string;
  /** The transaction that reserved the key. It ends with `respond` or `commit`. */
  readonly trx: Trx;
  readonly #deps: Deps;
  readonly #log: Logger;
  readonly #reserved: ReservedKey;
  readonly #attempt: Attempt;
  readonly #seal: ResponseSeal | null;
  #isCommitted = false;

  constructor(
    deps: Deps,
    log: Logger,
    caller: Caller,
    reserved: ReservedKey,
    trx: Trx,
    { attempt, seal }: Pick<WriteRequest, "attempt" | "seal">,
  ) {
    this.userId = caller.userId;
    this.credentialId = caller.credentialId;
    this.workspaceId = caller.workspaceId;
    this.role = caller.role;
    this.isHuman = caller.isHuman;
    this.requestId = caller.requestId;
    this.trx = trx;
    this.#deps = deps;
    this.#log = log;
    this.#reserved = reserved;
    this.#attempt = attempt;
    this.#seal = seal;
  }

  /** Stores the response and commits the transaction, in one round trip. */
  async respond(body: unknown, status = 200): Promise<StoredResponse> {
    const [response] = await allInOrder([this.respondIn(this.trx, body, status), this.trx.commit()]);
    return response;
  }

  /** Commits before the write is done: its key is shown as running until `respondIn` ends it. */
  async commit(): Promise<void> {
    if (this.#isCommitted) return;
    this.#isCommitted = true;
    await allInOrder([this.#attempt.begin(this.trx), this.trx.commit()]);
  }

  /** Stores the response at the end of a later transaction. Throws busy if the key was taken over. */
  async respondIn(trx: Trx, body: unknown, status = 200): Promise<StoredResponse> {
    const response = { status, body: status === 204 ? null : jsonOf(body) };
    const stored = this.#seal ? this.#seal.close(response) : response;
    const row = this.#attempt.row(status === 201 ? idsOf(body) : {});
    if (await storeResponse(trx, this.#reserved, stored, row)) return response;
    throw busy("This request was taken over by its own retry. Make the same call again.", 1);
  }

  /** Rolls back, or frees the key after `commit`, so that the request can be repeated. */
  async abandon(): Promise<void> {
    if (!this.#isCommitted) return this.trx.rollback();
    await freeWithRetry(this.#log, "an idempotency key", () => freeKey(this.#deps.db, this.#reserved));
  }
}

/** The id of what was created, and the number of a card. */
function idsOf(created: unknown): Record<string, string | number> {
  const fields = created instanceof JsonText ? created.toJSON() : created;
  const { id, number } = fields as { readonly id?: unknown; readonly number?: unknown };
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof number === "number" && { number }),
  };
}

/** Pauses between attempts, in milliseconds; the last one repeats. */
const PAUSES_MS = [250, 1_000, 4_000, 15_000, 30_000] as const;

/**
 * Frees something that this process owns, because no other process may take it over while this one
 * lives. Never throws: if the database cannot be reached, retries in the background. `what` names
 * it in the log.
 */
export async function freeWithRetry(log: Logger, what: string, free: () => Promise<unknown>): Promise<void> {
  try {
    await free();
  } catch (error) {
    log.warn({ err: error }, `${what} could not be freed yet`);
    void retry(log, what, free);
  }
}

async function retry(log: Logger, what: string, free: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    await sleep(PAUSES_MS[tries] ?? 30_000, undefined, { ref: false });
    try {
      await free();
      return;
    } catch (error) {
      log.debug({ err: error }, `${what} could still not be freed`);
    }
  }
}
