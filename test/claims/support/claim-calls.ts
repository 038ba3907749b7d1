import type { Api, ApiResponse, CallOptions } from "../../support/api.ts";
import type { TestBoard } from "../../support/world.ts";

export interface ShownClaim {
  readonly generation: number;
  readonly holder: { readonly id: string; readonly name: string };
  readonly expiresAt: string;
  readonly note: string | null;
}

export interface Claim extends ShownClaim {
  readonly claimId: string;
}

/** The response to a refused call. */
interface Refusal {
  readonly message: string;
  readonly code?: string;
  readonly claim?: ShownClaim;
}

export const claim = (
  api: Api,
  number: number,
  fields: object = {},
  options: CallOptions = {},
): Promise<ApiResponse<Claim & Refusal>> =>
  api.post(`/v1/cards/${number}/claim`, { ttlSeconds: 60, ...fields }, options);

/** Claims a card; throws if that is refused. */
export async function claimed(api: Api, number: number, fields: object = {}): Promise<Claim> {
  const { status, body, text } = await claim(api, number, fields);
  if (status !== 200) throw new Error(`card ${number} was not claimed: ${text}`);
  return body;
}

export const release = (api: Api, number: number, outcome?: string): Promise<ApiResponse<Refusal>> =>
  api.call("DELETE", `/v1/cards/${number}/claim`, outcome === undefined ? undefined : { outcome });

export const claimNext = (
  api: Api,
  fields: object = {},
): Promise<ApiResponse<{ readonly card: { readonly number: number }; readonly claim: Claim } & Refusal>> =>
  api.post("/v1/claims/next", { ttlSeconds: 60, ...fields });

export const tokenOf = ({ claimId, generation }: Pick<Claim, "claimId" | "generation">): string =>
  `${claimId}.${generation}`;

/** The options of a write under a claim. */
export const under = (held: Pick<Claim, "claimId" | "generation">): CallOptions => ({
  headers: { "x-claim": tokenOf(held) },
});

/** The claim that a card shows, or undefined. */
export const shownClaim = async (api: Api, number: number): Promise<ShownClaim | undefined> =>
  (await api.get<{ claim?: ShownClaim }>(`/v1/cards/${number}`)).body.claim;

/** Lets the claim of a card expire in so many milliseconds, or so many ago. */
export async function expireIn({ db, api }: TestBoard, number: number, ms: number): Promise<void> {
  const { id } = await api.readCard(number);
  await db("claims")
    .where({ card_id: id })
    .update({ expires_at: db.raw("clock_timestamp() + ? * interval '1 millisecond'", [ms]) });
}
