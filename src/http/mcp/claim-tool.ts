import { z } from "zod";
import { invalid } from "../../errors.ts";
import { dataOf, routeNamed, type Arguments, type Output, type RunRoute } from "./tool.ts";

export const CLAIM = "POST /v1/cards/{number}/claim";
export const CLAIM_NEXT = "POST /v1/claims/next";

const { body } = routeNamed(CLAIM_NEXT).definition;
const { projectId, statusId, labels } = body instanceof z.ZodObject ? body.shape : {};

/** With a number, a card to claim or to renew the claim of; without, which card is the next one. */
export const claimArguments = {
  number: z.int().optional().meta({ description: "By default the next free card" }),
  projectId,
  statusId,
  labels,
};

/** The argument with which later writes show their claim. */
const USE = "Pass `claim` as `<claimId>.<generation>` to your writes on the card, which renews the claim.";

export async function claimWork(run: RunRoute, { number, ...input }: Arguments): Promise<Output> {
  if (number !== undefined) {
    const answer = await run(CLAIM, { number, ...input });
    return { text: `The card is claimed. ${USE}`, data: dataOf(answer) };
  }
  if (input["claimId"] !== undefined) {
    const message = "is required to renew a claim";
    throw invalid(`number: ${message}`, [{ path: "number", message }]);
  }
  const { status, body: found } = await run(CLAIM_NEXT, input);
  if (status === 204) return { text: "No card is free.", data: { card: null, claim: null } };
  const { card, claim } = found as { card: object; claim: object };
  return {
    text: `You have claimed \`card\`. ${USE}`,
    data: { card: { ...card, source: "trunkline" }, claim },
  };
}
