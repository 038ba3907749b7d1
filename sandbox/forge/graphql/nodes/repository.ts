import { protectionOf } from "../../actions/protection.ts";
import { aheadBehind, commitsBetween } from "../../git/history.ts";
import { listRefs, readRef, shortRefName } from "../../git/refs.ts";
import { NODE_PREFIXES, namedNodeId, nodeId } from "../../node-id.ts";
import { presentBranchRules } from "../../present/ruleset.ts";
import type { ProtectionRow, PullRequestRow, RepositoryRow } from "../../rows.ts";
import { connection, isGiven, type PageArgs } from "../connection.ts";
import { mergeQueueObject } from "./merge-queue.ts";
import { choosePullRequests, type PullRequestArgs } from "./pull-request.ts";
import { GraphqlRefusal } from "../refusal.ts";
import { repositoryPath, type GraphqlObject, type Scope } from "../scope.ts";

export function repositoryObject(scope: Scope, row: RepositoryRow): GraphqlObject {
  const path = repositoryPath(scope, row);
  const git = scope.forge.git.repository(row.id);
  return {
    __typename: "Repository",
    id: nodeId(NODE_PREFIXES.repository, row.id),
    databaseId: row.id,
    name: row.name,
    nameWithOwner: path.slice(1),
    owner: () => scope.account(row.ownerId),
    url: `${scope.forge.urls.root}${path}`,
    description: row.description,
    ...settingFields(row),
    isEmpty: async () => (await listRefs(git, "refs/heads/")).length === 0,
    defaultBranchRef: () => refNamed(scope, row, `refs/heads/${row.defaultBranch}`),
    ref: ({ qualifiedName }: { qualifiedName: string }) => findRef(scope, row, qualifiedName),
    refs: (args: RefsArgs) => refs(scope, row, args),
    object: (args: ObjectArgs) => namedObject(scope, row, args),
    pullRequest: ({ number }: { number: number }) => pullRequest(scope, row, number),
    pullRequests: (args: PullRequestArgs) =>
      pullRequests(scope, "pullRequests", scope.forge.state.pullRequests.inGroup(row.id), args),
    mergeQueue: ({ branch }: { branch?: string | null }) =>
      mergeQueueObject(scope, row, branch ?? row.defaultBranch),
  };
}

const settingFields = (row: RepositoryRow) => ({
  isArchived: row.archived,
  isDisabled: false,
  isFork: false,
  isPrivate: row.private,
  visibility: row.private ? "PRIVATE" : "PUBLIC",
  autoMergeAllowed: row.allowAutoMerge,
  deleteBranchOnMerge: row.deleteBranchOnMerge,
  mergeCommitAllowed: row.allowMergeCommit,
  rebaseMergeAllowed: row.allowRebaseMerge,
  squashMergeAllowed: row.allowSquashMerge,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  pushedAt: row.pushedAt,
});

async function refNamed(scope: Scope, row: RepositoryRow, name: string): Promise<GraphqlObject | null> {
  const sha = await readRef(scope.forge.git.repository(row.id), name);
  return sha === null ? null : scope.ref(row, name, sha);
}

/** Finds a ref by its full name, or a branch or tag by its short name. */
async function findRef(scope: Scope, row: RepositoryRow, name: string): Promise<GraphqlObject | null> {
  if (name.startsWith("refs/")) return refNamed(scope, row, name);
  return (
    (await refNamed(scope, row, `refs/heads/${name}`)) ?? (await refNamed(scope, row, `refs/tags/${name}`))
  );
}

interface RefsArgs extends PageArgs {
  readonly refPrefix: string;
  readonly query?: string | null;
  readonly direction?: "ASC" | "DESC" | null;
  readonly orderBy?: {
    readonly field: "ALPHABETICAL" | "TAG_COMMIT_DATE";
    readonly direction: "ASC" | "DESC";
  } | null;
}

async function refs(scope: Scope, row: RepositoryRow, args: RefsArgs): Promise<object> {
  const sort = args.orderBy?.field === "TAG_COMMIT_DATE" ? "creatordate" : "refname";
  const found = await listRefs(scope.forge.git.repository(row.id), args.refPrefix, sort);
  const wanted = found.filter((ref) => ref.name.includes(args.query ?? ""));
  if ((args.orderBy?.direction ?? args.direction) === "DESC") wanted.reverse();
  return connection("refs", wanted, args, (ref) => scope.ref(row, ref.name, ref.sha));
}

interface ObjectArgs {
  readonly expression?: string | null;
  readonly oid?: string | null;
}

/** Resolves a Git expression such as `main`, `main:README.md` or a hash. */
async function namedObject(
  scope: Scope,
  row: RepositoryRow,
  args: ObjectArgs,
): Promise<GraphqlObject | null> {
  const expression = args.oid ?? args.expression;
  if (!isGiven(expression) || expression.startsWith("-") || expression.includes("\n")) return null;
  const { code, stdout } = await scope.forge.git
    .repository(row.id)
    .run(["rev-parse", "--verify", "--quiet", "--end-of-options", expression], { codes: [1, 128] });
  const sha = /^[0-9a-f]{40}/.exec(stdout.toString("utf8"))?.[0];
  return code === 0 && sha !== undefined ? scope.gitObject(row, sha) : null;
}

function pullRequests(
  scope: Scope,
  name: string,
  rows: readonly PullRequestRow[],
  args: PullRequestArgs,
): object {
  return connection(name, choosePullRequests(rows, args), args, (pull) => scope.pullRequest(pull));
}

function pullRequest(scope: Scope, row: RepositoryRow, number: number): GraphqlObject {
  const pull = scope.forge.state.pullRequests.inGroup(row.id).find((each) => each.number === number);
  if (pull !== undefined) return scope.pullRequest(pull);
  throw new GraphqlRefusal("NOT_FOUND", `Could not resolve to a PullRequest with the number of ${number}.`);
}

export function refObject(scope: Scope, row: RepositoryRow, name: string, sha: string): GraphqlObject {
  const short = shortRefName(name);
  const prefix = name.slice(0, name.length - short.length);
  const protection = () => protectionOf(scope.forge, row, short);
  return {
    __typename: "Ref",
    id: namedNodeId(NODE_PREFIXES.ref, row.id, name),
    name: prefix === "" ? name.replace(/^refs\/[^/]+\//, "") : short,
    prefix: prefix === "" ? (/^refs\/[^/]+\//.exec(name)?.[0] ?? "refs/") : prefix,
    repository: () => scope.repository(row),
    target: () => scope.gitObject(row, sha),
    refUpdateRule: () => refUpdateRule(protection()),
    rules: (args: PageArgs) => branchRules(scope, row, short, args),
    compare: ({ headRef }: { headRef: string }) => compare(scope, row, { name, sha }, headRef),
    associatedPullRequests: (args: PullRequestArgs) => {
      const fromHere = scope.forge.state.pullRequests
        .inGroup(row.id)
        .filter((pull) => pull.headRef === short);
      return pullRequests(scope, "associatedPullRequests", fromHere, args);
    },
  };
}

/** The rules of rulesets. GitHub shows them to everybody who may read the repository. */
const branchRules = ({ forge }: Scope, row: RepositoryRow, branch: string, args: PageArgs): object =>
  connection(
    "rules",
    presentBranchRules(forge, row, branch),
    args,
    ({ type, ruleset_id: id, parameters }) => ({
      __typename: "RepositoryRule",
      id: namedNodeId(NODE_PREFIXES.rule, id, type),
      type: type.toUpperCase(),
      parameters: ruleParameters(type, parameters ?? {}),
      repositoryRuleset: {
        __typename: "RepositoryRuleset",
        id: nodeId(NODE_PREFIXES.ruleset, id),
        databaseId: id,
        enforcement: "ACTIVE",
        name: forge.state.rulesets.get(id)?.name ?? "rules",
      },
    }),
  );

const PARAMETER_TYPES: Readonly<Record<string, string>> = {
  code_scanning: "CodeScanningParameters",
  pull_request: "PullRequestParameters",
  required_status_checks: "RequiredStatusChecksParameters",
};

/** The parameters of a rule with GraphQL's names of the REST fields; null for types that are not served. */
function ruleParameters(type: string, parameters: object): object | null {
  const typename = PARAMETER_TYPES[type];
  return typename === undefined ? null : { __typename: typename, ...camelCased(parameters) };
}

/** GraphQL has null where REST leaves the App of a check out. */
const withApp = (value: object): object =>
  "context" in value && !("integrationId" in value) ? { ...value, integrationId: null } : value;

const camelCased = (value: object): object =>
  Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      Array.isArray(each)
        ? each.map((one: unknown) => (one instanceof Object ? withApp(camelCased(one)) : one))
        : each,
    ]),
  );

/** The classic protection as shown to those who may not administrate the repository. */
const refUpdateRule = (protection: ProtectionRow | undefined) =>
  protection === undefined
    ? null
    : {
        __typename: "RefUpdateRule",
        pattern: protection.branch,
        allowsDeletions: protection.allowDeletions,
        allowsForcePushes: protection.allowForcePushes,
        requiredApprovingReviewCount: protection.requiredReviews?.count ?? null,
        requiresCodeOwnerReviews: false,
        requiresConversationResolution: protection.requiresResolvedThreads ?? false,
        requiredStatusCheckContexts:
          protection.requiredStatusChecks?.checks.map(({ context }) => context) ?? [],
        requiresLinearHistory: protection.requiredLinearHistory,
        requiresSignatures: protection.requiredSignatures === "classic",
      };

/** Compares `headRef` with this ref. */
async function compare(
  scope: Scope,
  row: RepositoryRow,
  base: { name: string; sha: string },
  headRef: string,
) {
  const git = scope.forge.git.repository(row.id);
  const head = await namedObject(scope, row, { expression: `${headRef}^{commit}` });
  if (head === null) return null;
  const headSha = String(head["oid"]);
  const { aheadBy, behindBy } = await aheadBehind(git, base.sha, headSha);
  const status = aheadBy > 0 ? (behindBy > 0 ? "DIVERGED" : "AHEAD") : behindBy > 0 ? "BEHIND" : "IDENTICAL";
  return {
    __typename: "Comparison",
    id: namedNodeId(NODE_PREFIXES.comparison, row.id, `${base.sha}...${headSha}`),
    aheadBy,
    behindBy,
    status,
    baseTarget: () => scope.gitObject(row, base.sha),
    headTarget: head,
    commits: async (args: PageArgs) => {
      const commits = await commitsBetween(git, base.sha, headSha);
      const authorCount = new Set(commits.map((commit) => commit.author.email)).size;
      return connection("commits", commits, args, (commit) => scope.commit(row, commit.sha), { authorCount });
    },
  };
}
