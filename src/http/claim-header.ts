import { invalid } from "../errors.ts";
import type { ClaimToken } from "../store/cards/claims.ts";

/** The header that names the claim of the card that a write changes. */
export const CLAIM_HEADER = "X-Claim";

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,9})$/i;
export const CLAIM_TOKEN_PATTERN = TOKEN.source;

/** Whether writes on this path, as in `/v1/cards/{number}/move`, are about one card. */
export const isAboutCard = (path: string): boolean => path.startsWith("/v1/cards/{number}");

/** The claim in the header, or null without the header. Throws `invalid` if it is malformed. */
export function claimTokenOf(header: string | undefined): ClaimToken | null {
  if (header === undefined) return null;
  const [, claimId, generation] = TOKEN.exec(header) ?? [];
  if (claimId !== undefined) return { claimId, generation: Number(generation) };
  throw invalid(`The ${CLAIM_HEADER} header takes <claimId>.<generation> of your claim of the card.`);
}
