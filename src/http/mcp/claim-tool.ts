import { z } from "zod";
import { invalid } from "../../errors.ts";
import { dataOf, routeNamed, type Arguments, type Output, type RunRoute } from "./tool.ts";

export const CLAIM = "POST /v1/cards/{number}/claim";
export const CLAIM_NEXT = "POST /v1/claims/next";

const { body } = routeNamed(CLAIM_NEXT).definition;
const { projectId, statusId, labels } = body instanceof z.ZodObject ? body.shape : {};

/** Arguments besides those of the claim route: `number` selects a card, the others filter free cards. */
export const claimArguments = {
  number: z.int().optional().meta({ description: "By default the next free card" }),
  projectId,
  statusId,
  labels,
};

/** How to use the claim in later writes. */
const NEXT_STEP =
  "Pass `claim` as `<claimId>.<generation>` to your writes on the card, which renews the claim.";

export async function claimWork(run: RunRoute, { number, ...input }: Arguments): Promise<Output> {
  if (number !== undefined) {
    const response = await run(CLAIM, { number, ...input });
    return { text: `The card is claimed. ${NEXT_STEP}`, data: dataOf(response) };
  }
  if (input["claimId"] !== undefined) {
    const message = "is required to renew a claim";
    throw invalid(`number: ${message}`, [{ path: "number", message }]);
  }
  const { status, body: found } = await run(CLAIM_NEXT, input);
  if (status === 204) return { text: "No card is free.", data: { card: null, claim: null } };
  const { card, claim } = found as { card: object; claim: object };
  return {
    text: `You have claimed \`card\`. ${NEXT_STEP}`,
    data: { card: { ...card, source: "trunkline" }, claim },
  };
}
