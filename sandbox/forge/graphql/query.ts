import { findRepository, roleIn } from "../server/access.ts";
import { findNode } from "./find-node.ts";
import { notFound, GraphqlRefusal } from "./refusal.ts";
import type { GraphqlObject, Scope } from "./scope.ts";

interface RepositoryArgs {
  readonly owner: string;
  readonly name: string;
  readonly followRenames: boolean;
}

/** The fields of `Query`. */
export const query = {
  id: "Q",
  rateLimit: (_: object, { budget }: Scope): object => ({
    cost: 1,
    limit: budget.limit,
    nodeCount: 0,
    remaining: budget.remaining,
    used: budget.used,
    resetAt: `${new Date(budget.reset * 1000).toISOString().slice(0, 19)}Z`,
  }),
  repository(args: RepositoryArgs, scope: Scope): GraphqlObject {
    const found = findRepository(scope.forge, args.owner, args.name);
    const row =
      found === null
        ? null
        : "repository" in found
          ? found.repository
          : args.followRenames
            ? found.movedTo
            : null;
    if (row === null || roleIn(scope.forge, scope.caller, row) === null) {
      const name = `${args.owner}/${args.name}`;
      throw new GraphqlRefusal("NOT_FOUND", `Could not resolve to a Repository with the name '${name}'.`);
    }
    return scope.repository(row);
  },
  viewer(_: object, scope: Scope): GraphqlObject {
    if (!("account" in scope.caller))
      throw new GraphqlRefusal("FORBIDDEN", "Resource not accessible by integration");
    // GitHub shows an App's bot as a User here, the `[bot]` included.
    const { account } = scope.caller;
    return { ...scope.accountOf(account), __typename: "User", login: account.login };
  },
  async node({ id }: { id: string }, scope: Scope): Promise<GraphqlObject> {
    const node = await findNode(scope, id);
    if (node === null) throw notFound(id);
    return node;
  },
  /** Each missing node is null and has its own error. */
  nodes: ({ ids }: { ids: readonly string[] }, scope: Scope): (Promise<GraphqlObject> | GraphqlRefusal)[] => {
    if (ids.length > 100)
      throw new GraphqlRefusal("ARGUMENT_LIMIT", "You may not provide more than 100 node ids.");
    return ids.map((id) => query.node({ id }, scope));
  },
};
