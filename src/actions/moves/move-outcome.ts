import type { MergedWork } from "../../flow/move.ts";
import type { WorkByRepository } from "../../flow/readiness.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import type { RecordedMerge } from "../../store/cards/moves.ts";

/** What the move has merged, and what was in the targets already. */
export interface MoveMerges {
  readonly promoted: readonly RecordedMerge[];
  readonly alreadyMerged: readonly MergedWork[];
}

export type MoveOutcome = MoveMerges &
  (
    | { readonly state: "moved" }
    | {
        readonly state: "refused";
        readonly reasons: readonly BlockedReason[];
        readonly headSha: string | null;
        /** When the reasons may end without an event, in milliseconds from now; null if they do not. */
        readonly endsInMs: number | null;
      }
    | { readonly state: "queued"; readonly queued: readonly RecordedMerge[] }
    /** Only with `whenReady`. */
    | {
        readonly state: "waiting";
        readonly waitingFor: readonly BlockedReason[];
        readonly armedWith: WorkByRepository;
        readonly endsInMs: number | null;
      }
  );
