import type { ForgeRequest } from "../../metrics/metrics.ts";
import type { Forge } from "../forge.ts";
import { ForgeUnavailable, type RepositoryRef } from "../values.ts";
import {
  readAccount,
  readIdentity,
  readInstallation,
  readInstallations,
  readTokenOwner,
} from "./accounts.ts";
import { readApp, readDeliveredPayload, readDeliveryLog, readWebhook } from "./app.ts";
import {
  branchRevision,
  changedOnBothSides,
  createBranch,
  deleteBranch,
  moveBranch,
  readBranchHead,
  readContains,
  readTemporaryBranches,
} from "./branches/branches.ts";
import { CHECKS } from "./pull-requests/check-details.ts";
import { discardPick, applyPick, preparePick } from "./branches/cherry-pick.ts";
import { createClient, type OnRefused, type OnUnavailable } from "./calls/client.ts";
import { comment, editComment, hasComment } from "./pull-requests/comments.ts";
import { CallFailure, isWithoutResponse, asRefusal, asUnavailable, orFallback } from "./calls/failures.ts";
import { approve } from "./people/approve.ts";
import { Person } from "./calls/send-call.ts";
import { openRepository, type RepositoryDeps } from "./github-repository.ts";
import { listGraphqlGaps } from "./graphql-documents.ts";
import { readOpenPullRequests, readPullRequest } from "./pull-requests/listed-pull-requests.ts";
import { inspect } from "./pull-requests/inspect.ts";
import { type BypassReader, createBypassReader } from "./pull-requests/ruleset-bypass.ts";
import { readLandedCommits } from "./branches/landed-history.ts";
import { createLimits, type SharedLimits } from "./calls/limits.ts";
import { mergePullRequest } from "./pull-requests/merge-pull-request.ts";
import { type GitHubAppOptions, createOctokits } from "./calls/octokits.ts";
import { readLists } from "./pull-requests/pull-request-lists.ts";
import { closePullRequest, markReady, openPullRequest } from "./pull-requests/pull-requests.ts";
import { readRepositories, readRepository } from "./repositories.ts";
import { REVIEWS } from "./pull-requests/conversation.ts";
import {
  createTag,
  createTags,
  inspectTags,
  publishRelease,
  readReleaseUrl,
  readTagNames,
  tagBranchTip,
} from "./branches/tags.ts";
import {
  clockWithPauses,
  createTransport,
  type MonotonicClock,
  withConditionalReads,
} from "./calls/transport.ts";
import type { Turns } from "./calls/turns.ts";

export interface GitHubForgeOptions extends GitHubAppOptions {
  /** Paces the writes of each installation across processes; without it, they are not paced. */
  readonly turns?: Turns | undefined;
  /** Limits that GitHub reports to any process; without it, each process knows its own. */
  readonly sharedLimits?: SharedLimits;
  /** Multiplies the pauses; by default 1. */
  readonly pauseFactor?: number | undefined;
  /** Instead of the process's own. */
  readonly clock?: MonotonicClock;
  /** Of one HTTP request; GitHub ends requests after 10 s. */
  readonly requestTimeoutMs?: number;
  readonly onRefused?: OnRefused;
  readonly onUnavailable?: OnUnavailable;
  readonly onMissingFeature?: RepositoryDeps["onMissingFeature"];
  /** Called after every HTTP request. */
  readonly observe?: (request: ForgeRequest) => void;
}

const REQUEST_TIMEOUT_MS = 12_000;
const MERGE_WITHIN_MS = 25_000;
/** After this time, a refusal is returned without the files. */
const NAME_FILES_WITHIN_MS = 5_000;
/** For the last read after a merge has waited. */
const MERGE_MARGIN_MS = 3_000;
const PICK_WITHIN_MS = 25_000;
/** Each further commit is one more write, and GitHub asks for a second between two writes. */
const PICK_WITHIN_MS_PER_COMMIT = 2_000;

function connect(options: GitHubForgeOptions): ForgeDeps {
  const { baseUrl, requestTimeoutMs = REQUEST_TIMEOUT_MS, log, observe } = options;
  const { pauseFactor = 1, clock = clockWithPauses(pauseFactor) } = options;
  const { turns = null, onRefused = async () => {}, onMissingFeature = async () => {} } = options;
  const { onUnavailable = async () => {} } = options;
  const limits = createLimits(clock, options.sharedLimits ?? null, log);
  const sending = { baseUrl, requestTimeoutMs, clock, limits, observe };
  const transport = withConditionalReads(createTransport(sending));
  const octokits = createOctokits(options, transport, clock);
  const client = createClient({ octokits, transport, limits, turns, onRefused, onUnavailable, clock, log });
  const identity = onceRead(() => asUnavailable(readIdentity(client)));
  return { client, clock, identity, onMissingFeature, readBypass: createBypassReader(clock) };
}

/** The port for GitHub.com or a GitHub Enterprise Server. */
export function createGitHubForge(options: GitHubForgeOptions): Forge {
  const forge = forgeOf(connect(options));
  const { onUnavailable } = options;
  return onUnavailable === undefined ? forge : reportingUnusable(forge, onUnavailable);
}

/** Reports responses that could not be used; `createClient` reports outages. */
function reportingUnusable(forge: Forge, onUnavailable: OnUnavailable): Forge {
  const report = async (error: unknown): Promise<never> => {
    if (error instanceof ForgeUnavailable && error.cause instanceof CallFailure) {
      const { installationId } = error.cause.facts;
      const isUnusable = error.reason === "unusable_response" && installationId !== null;
      if (isUnusable) await onUnavailable(installationId, error.reason, error.retryAfter);
    }
    throw error;
  };
  const methods = Object.entries(forge) as [string, (...args: unknown[]) => Promise<unknown>][];
  const reporting = methods.map(([name, method]) => [
    name,
    (...args: unknown[]) => method(...args).catch(report),
  ]);
  return {
    ...(Object.fromEntries(reporting) as Forge),
    with: (context) => reportingUnusable(forge.with(context), onUnavailable),
  };
}

interface ForgeDeps extends RepositoryDeps {
  readonly readBypass: BypassReader;
}

function forgeOf(deps: ForgeDeps): Forge {
  const { client, clock, identity, readBypass } = deps;
  const on = (ref: RepositoryRef, withinMs?: number) => openRepository(deps, ref, withinMs);
  const forPick = (ref: RepositoryRef) => (commits: number) =>
    on(ref, PICK_WITHIN_MS + (commits - 1) * PICK_WITHIN_MS_PER_COMMIT);

  return {
    with: (context) => forgeOf({ ...deps, client: client.with(context) }),
    identity,
    app: () => readApp(client),
    webhook: () => readWebhook(client),
    installations: () => readInstallations(client),
    forgetToken: (installationId) => client.forgetToken(installationId),
    installation: (installationId) => readInstallation(client, installationId),
    repositories: (installationId) => asRefusal(readRepositories(client, installationId)),
    account: (login, installationId) => asUnavailable(readAccount(client, login, installationId)),
    tokenOwner: (token) => asUnavailable(readTokenOwner(client, token.accessToken)),
    repository: (ref) => readRepository(client, ref),
    graphqlGaps: (installationId) => asUnavailable(listGraphqlGaps(client, installationId)),
    deliveryLog: (cursor) => readDeliveryLog(client, cursor),
    deliveredPayload: (attemptId) => readDeliveredPayload(client, attemptId),
    inspect: (questions, asked) => inspect(client, readBypass, questions, asked),
    checks: (questions) => readLists(client, CHECKS, questions),
    reviews: (questions) => readLists(client, REVIEWS, questions),
    openPullRequests: (ref) => asUnavailable(readOpenPullRequests(on(ref))),
    pullRequest: (ref, number) => asUnavailable(readPullRequest(on(ref), number)),
    changedOnBothSides: (ref, branchName, sha) => {
      const branch = branchRevision(branchName);
      const sides = [`${branch}...${sha}`, `${sha}...${branch}`] as const;
      return orFallback(changedOnBothSides(on(ref, NAME_FILES_WITHIN_MS), sides), isWithoutResponse, []);
    },
    branchHead: (ref, branchName) => asUnavailable(readBranchHead(on(ref), branchName)),
    createBranch: (ref, branchName, sha) => asRefusal(createBranch(on(ref), branchName, sha)),
    openPullRequest: (ref, draft) => asRefusal(openPullRequest(on(ref), draft)),
    closePullRequest: (ref, number) => asRefusal(closePullRequest(on(ref), number)),
    markReady: (ref, nodeId) => asRefusal(markReady(on(ref), nodeId)),
    merge: (ref, order, waitMs) => {
      const repository = on(ref, Math.max(MERGE_WITHIN_MS, waitMs + MERGE_MARGIN_MS));
      return asRefusal(mergePullRequest({ repository, order, until: clock.now() + waitMs }));
    },
    approve: (ref, order, waitMs) => {
      const within = Math.max(MERGE_WITHIN_MS, waitMs + MERGE_MARGIN_MS);
      const repository = openRepository(deps, ref, within, new Person(order.token.accessToken));
      return asRefusal(approve(repository, order, clock.now() + waitMs));
    },
    comment: (ref, order, waitMs) => asRefusal(comment(on(ref, waitMs), order)),
    hasComment: (ref, commentId) => asUnavailable(hasComment(on(ref), commentId)),
    editComment: (ref, commentId, body, waitMs) => asRefusal(editComment(on(ref, waitMs), commentId, body)),

    contains: (ref, branchName, sha) => asUnavailable(readContains(on(ref), branchName, sha)),
    landedCommits: (ref, question) => asUnavailable(readLandedCommits(on(ref), question)),
    inspectTags: (questions) => inspectTags(client, questions),
    tagNames: (repositories) => readTagNames(client, repositories),
    temporaryBranches: (ref) => asUnavailable(readTemporaryBranches(on(ref))),
    deleteBranch: (ref, branchName, sha) => asRefusal(deleteBranch(on(ref), branchName, sha)),
    preparePick: (ref, order) => asRefusal(preparePick(forPick(ref), order)),
    applyPick: (ref, order, prepared) => asRefusal(applyPick(forPick(ref), order, prepared)),
    discardPick: (ref, order, prepared) => discardPick(forPick(ref)(1), order, prepared),
    moveBranch: (ref, branchName, from, to) => asRefusal(moveBranch(on(ref), { branchName, from, to })),
    tagBranchTip: (ref, tag) => tagBranchTip(on(ref), tag),
    createTags: async (tags) => {
      const names = tags.map(({ repository }) => repository.fullName).join(" ");
      return tags[0] ? createTags(client.as(tags[0].repository.installationId, undefined, names), tags) : [];
    },
    createTag: (ref, tagName, sha) => asRefusal(createTag(on(ref), tagName, sha)),
    releaseUrl: (ref, tagName) => asUnavailable(readReleaseUrl(on(ref), tagName)),
    publishRelease: (ref, notes) => asRefusal(publishRelease(on(ref), notes)),
  };
}

/** Caches the response, but not a failure. */
function onceRead<T>(ask: () => Promise<T>): () => Promise<T> {
  let cached: Promise<T> | undefined;
  return () => {
    cached ??= ask().catch((error: unknown) => {
      cached = undefined;
      throw error;
    });
    return cached;
  };
}
