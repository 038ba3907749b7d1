import { isoTime } from "../db/connect.ts";
import { userJsonSql, type User } from "../tenancy/users.ts";

/** A claim as a card shows it while it is held. */
export interface ShownClaim {
  readonly generation: number;
  readonly holder: User;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly note: string | null;
}

/** A claim as its holder gets it. */
export interface HeldClaim extends ShownClaim {
  readonly claimId: string;
}

/** SQL for whether the claim `k` is held. Everything in one statement has the same `now()`. */
export const IS_HELD = "k.expires_at > now()";

/** SQL for the fields of the claim `k` with its holder `h`, as arguments of `json_build_object`. */
export const CLAIM_FIELDS = `
  'generation', k.generation, 'holder', ${userJsonSql("k.workspace_id", "h")},
  'expiresAt', ${isoTime("k.expires_at")}, 'note', k.note`;

/** SQL for the held claim of the card `c` as JSON, or null. */
export const CARD_CLAIM = `
  (select json_build_object(${CLAIM_FIELDS}) from claims k join users h on h.id = k.user_id
    where k.card_id = c.id and ${IS_HELD})`;
