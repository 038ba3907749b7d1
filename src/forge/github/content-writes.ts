/**
 * Calls that create what people see, and that GitHub therefore counts more strictly. It does not publish which they are; these are the ones
 * octokit's throttling takes for such, and the commits we make ourselves.
 */
const REST: readonly RegExp[] = [
  /\/pulls$/,
  /\/pulls\/\{\w+\}\/(merge|merge-async)$/,
  /\/comments(\/\{\w+\})?$/,
  /\/releases$/,
  /\/(merges|git\/commits|git\/tags)$/,
];
const GRAPHQL = /\b(enqueuePullRequest|mergeBranch|mergePullRequest|createCommitOnBranch)\b/;

/** Whether a writing call counts as content: a REST route's template, or a GraphQL document. */
export function isContentWrite(call: {
  readonly kind: "rest" | "graphql";
  readonly method: string;
  readonly route: string;
  readonly document?: string;
}): boolean {
  if (call.kind === "graphql") return GRAPHQL.test(call.document ?? "");
  return call.method !== "DELETE" && REST.some((route) => route.test(call.route));
}
