/** REST and GraphQL have separate hourly budgets. */
export type Budget = "rest" | "graphql";

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
