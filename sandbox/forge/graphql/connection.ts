import { GraphqlRefusal } from "./refusal.ts";

/** Whether an argument was given. In GraphQL null means omitted. */
export const isGiven = <T>(argument: T | null | undefined): argument is T =>
  argument !== null && argument !== undefined;

export interface PageArgs {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
}

/** GitHub's limit for `first` and `last`. */
const PAGE_MAX = 100;

/** One page of a list as a GitHub connection. Calls `toNode` only for the items of the page. */
export function connection<T>(
  name: string,
  items: readonly T[],
  args: PageArgs,
  toNode: (item: T) => unknown,
  otherFields: Readonly<Record<string, unknown>> = {},
): object {
  checkBounds(name, args);
  const start = !isGiven(args.after) ? 0 : positionOf(args.after) + 1;
  const end = !isGiven(args.before) ? items.length : positionOf(args.before);
  const from = !isGiven(args.first) && isGiven(args.last) ? Math.max(start, end - args.last) : start;
  const to = !isGiven(args.first) ? end : Math.min(end, start + args.first);
  const page = items
    .slice(from, to)
    .map((item, index) => ({ cursor: cursorOf(from + index), node: () => toNode(item) }));
  return {
    ...otherFields,
    totalCount: items.length,
    edges: page,
    nodes: () => page.map((edge) => valueOrRefusal(edge.node)),
    pageInfo: {
      startCursor: page[0]?.cursor ?? null,
      endCursor: page.at(-1)?.cursor ?? null,
      hasPreviousPage: from > 0,
      hasNextPage: to < items.length,
    },
  };
}

/** A refused node is null and has an error of its own; graphql expects the error as the value. */
function valueOrRefusal(node: () => unknown): unknown {
  try {
    return node();
  } catch (error) {
    if (error instanceof GraphqlRefusal) return error;
    throw error;
  }
}

function checkBounds(name: string, args: PageArgs): void {
  if (!isGiven(args.first) && !isGiven(args.last)) {
    throw new GraphqlRefusal(
      "MISSING_PAGINATION_BOUNDARIES",
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`,
    );
  }
  for (const bound of ["first", "last"] as const) {
    const count = args[bound] ?? 0;
    if (count > PAGE_MAX) {
      throw new GraphqlRefusal(
        "EXCESSIVE_PAGINATION",
        `Requesting ${count} records on the \`${name}\` connection exceeds the \`${bound}\` limit of ${PAGE_MAX} records.`,
      );
    }
    if (count < 0) {
      throw new GraphqlRefusal(
        "ARGUMENT_LIMIT",
        `\`${bound}\` on the \`${name}\` connection cannot be less than zero.`,
      );
    }
  }
}

export const cursorOf = (position: number): string => Buffer.from(`cursor:v2:${position}`).toString("base64");

function positionOf(cursor: string): number {
  const position = /^cursor:v2:(\d+)$/.exec(Buffer.from(cursor, "base64").toString("utf8"))?.[1];
  if (position === undefined)
    throw new GraphqlRefusal("ARGUMENT_LIMIT", `\`${cursor}\` does not appear to be a valid cursor.`);
  return Number(position);
}
