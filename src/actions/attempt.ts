import type { CallContext, ForgeWrite } from "../forge/forge.ts";
import { addCalls, recordAttempt, type AttemptOutcome, type AttemptRow } from "../store/audit/attempts.ts";
import type { Db } from "../store/db/connect.ts";
import { forAttempt } from "../store/db/transaction.ts";
import type { Deps } from "./deps.ts";

/** A call or command that may change something. It has one row in the audit log. */
export class Attempt {
  /** Null until the API key is accepted. */
  userId: string | null = null;
  credentialId: string | null = null;
  /** Null until the board is known. */
  workspaceId: string | null = null;
  readonly #row: Omit<AttemptRow, "userId" | "workspaceId" | "calls">;
  readonly #calls: ForgeWrite[] = [];
  #isBegun = false;

  constructor(row: Omit<AttemptRow, "userId" | "workspaceId" | "calls">) {
    this.#row = row;
  }

  /** Returns dependencies that add the attempt's id to events. */
  instrument(deps: Deps): Deps {
    return { ...deps, db: forAttempt(deps.db, this.#row.id) };
  }

  /** Adds calls to the forge to the row. */
  get forgeContext(): Pick<CallContext, "onWrite"> {
    return { onWrite: (write) => this.#calls.push(write) };
  }

  /** For a cached credential that has been revoked. */
  clearCaller(): void {
    this.userId = this.credentialId = this.workspaceId = null;
  }

  get id(): string {
    return this.#row.id;
  }

  /** Whether its row may be stored already. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Inserts its row without an outcome, in the transaction that commits its first effect. */
  begin(db: Db): Promise<void> {
    this.#isBegun = true;
    return recordAttempt(db, this.row(), null);
  }

  /** Ends its row in a separate transaction. `Write` ends that of a success with the response. */
  end(db: Db, outcome: AttemptOutcome): Promise<void> {
    return recordAttempt(db, this.row(), outcome);
  }

  /** Its row without an outcome. `created` has the id of what it created. */
  row(created: AttemptRow["targets"] = {}): AttemptRow {
    const { userId, workspaceId } = this;
    const targets = { ...this.#row.targets, ...created };
    return { ...this.#row, targets, userId, workspaceId, calls: this.#calls };
  }
}

/**
 * Continues an attempt whose process died or gave up. Events have the id of the attempt. Calls to the
 * forge are added to its row, unless the row has ended.
 */
export async function continueAttempt<T>(
  deps: Deps,
  attemptId: string | null,
  run: (deps: Deps) => Promise<T>,
): Promise<T> {
  if (attemptId === null) return run(deps);
  const calls: ForgeWrite[] = [];
  try {
    const forge = deps.forge.with({ onWrite: (write) => calls.push(write) });
    return await run({ ...deps, db: forAttempt(deps.db, attemptId), forge });
  } finally {
    if (calls.length > 0) await addCalls(deps.db, attemptId, calls);
  }
}
