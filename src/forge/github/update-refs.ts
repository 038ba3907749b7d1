import type { Refusal } from "../../flow/refusal.ts";
import type { Caller } from "./client.ts";
import { graphqlOutcome, refusalOfError } from "./graphql-answer.ts";

/** Stands for "there is no such ref". */
export const NO_COMMIT = "0".repeat(40);

export interface RefUpdate {
  readonly name: string;
  /** Where the ref must stand for anything to happen; anywhere when left out. */
  readonly beforeOid?: string;
  readonly afterOid: string;
  readonly force?: boolean;
}

export const UPDATE_REFS = /* GraphQL */ `
  mutation UpdateRefs($repositoryId: ID!, $refUpdates: [RefUpdate!]!) {
    updateRefs(input: { repositoryId: $repositoryId, refUpdates: $refUpdates }) {
      clientMutationId
    }
  }
`;

/** Moves refs, all or none; null when done. REST has no such call, and none that moves a ref only from where it was expected. */
export async function updateRefs(
  caller: Caller,
  repositoryId: string,
  refUpdates: readonly RefUpdate[],
): Promise<Refusal | null> {
  const answer = await caller.mutate(UPDATE_REFS, { repositoryId, refUpdates });
  const outcome = graphqlOutcome(answer);
  if (outcome.refusal !== undefined) return outcome.refusal;
  const [error] = outcome.errors;
  return error === undefined ? null : refusalOfError(error, answer);
}
