import type { Scope } from "../scope.ts";

/** One mutation: its input and the call's scope to the fields of its payload, without `clientMutationId`. */
export type Mutation<Input> = (args: { readonly input: Input }, scope: Scope) => Promise<object> | object;

type AnyMutation = (
  args: { readonly input: Readonly<Record<string, unknown>> },
  scope: Scope,
) => Promise<object> | object;

/** Hands back `clientMutationId`, as every mutation does. */
export const withClientId =
  <Input extends object>(mutation: Mutation<Input>): AnyMutation =>
  async ({ input }, scope) => ({
    clientMutationId: input["clientMutationId"] ?? null,
    // GitHub's schema, held against before, says that the input has this shape.
    ...(await mutation({ input: input as Input }, scope)),
  });
