import { invalid } from "../../errors.ts";
import { dataOf, type Arguments, type Output, type RunRoute } from "./tool.ts";

export const WITHDRAW = "DELETE /v1/cards/{number}/blocked";

/** Withdraws the refused move of a card if `blocked` is null, otherwise changes fields. */
export async function updateCard(run: RunRoute, { blocked, ...input }: Arguments): Promise<Output> {
  if (blocked === undefined) {
    return { text: "The card is updated.", data: dataOf(await run("PATCH /v1/cards/{number}", input)) };
  }
  const { number, requestId, claim, ...fields } = input;
  if (Object.keys(fields).length > 0) {
    const message = "cannot be sent with other fields";
    throw invalid(`blocked: ${message}`, [{ path: "blocked", message }]);
  }
  const result = await run(WITHDRAW, { number, requestId, ...(claim !== undefined && { claim }) });
  return { text: "The refused move is withdrawn. The card stays in its stage.", data: dataOf(result) };
}
