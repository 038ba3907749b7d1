import type { ForgeRequest } from "../../metrics/observe-forge.ts";
import type { Asked, Forge, RepositoryRef } from "../forge.ts";
import { readApp, readWebhook } from "./app-state.ts";
import { askPullRequests } from "./ask-pull-requests.ts";
import { createBranch, readBranchHead } from "./branches.ts";
import { createCarryOut } from "./carry-out.ts";
import { changedOnBothSides } from "./changed-files.ts";
import { CHECKS, toCheckDetails } from "./check-details.ts";
import { createClient, type OnRefused } from "./client.ts";
import { comment, editComment, hasComment } from "./comments.ts";
import { type ForgeClock, systemClock } from "./clock.ts";
import { withConditionalReads } from "./conditional-reads.ts";
import { readDeliveredPayload, readDeliveryLog } from "./delivery-log.ts";
import { inspect } from "./inspect.ts";
import { createLimits } from "./limits.ts";
import { markReady } from "./mark-ready.ts";
import { mergePullRequest } from "./merge-pull-request.ts";
import { type AppOptions, createOctokits } from "./octokits.ts";
import type { OnLacking } from "./on-lacking.ts";
import { openPullRequest } from "./open-pull-request.ts";
import { nothingTold, permitted, reachable } from "./permitted.ts";
import { createReleasing } from "./releasing.ts";
import { readAccount } from "./read-account.ts";
import {
  readIdentity,
  readInstallation,
  readInstallations,
  readRepositories,
  readRepository,
} from "./repositories.ts";
import { REVIEWS, toReview } from "./reviews.ts";
import { createTransport } from "./transport.ts";
import type { Turns } from "./turns.ts";

export interface GitHubForgeOptions extends AppOptions {
  /** `https://api.github.com`, or `https://<host>/api/v3` of an Enterprise Server. */
  readonly baseUrl: string;
  /** Paces the calls of each installation, together with the other processes; without them nothing is paced. */
  readonly turns?: Turns | undefined;
  readonly clock?: ForgeClock;
  /** How long one HTTP request may take; GitHub itself gives up after 10 s. */
  readonly requestTimeoutMs?: number;
  readonly onRefused?: OnRefused;
  /** Told what a repository turned out to lack, to be told of it in `RepositoryRef.lacks` from then on. */
  readonly onLacking?: OnLacking;
  /** Told of every HTTP request that has ended. */
  readonly observe?: (request: ForgeRequest) => void;
}

const REQUEST_TIMEOUT_MS = 12_000;
const LOOK_WITHIN_MS = 25_000;
/** A refusal is answered without the files rather than late. */
const NAME_FILES_WITHIN_MS = 5_000;
/** Beyond what a merge may wait for: the last look at it. */
const MERGE_MARGIN_MS = 3_000;

/** GitHub, or a GitHub Enterprise Server, as a forge. */
export function createGitHubForge(options: GitHubForgeOptions): Forge {
  const clock = options.clock ?? systemClock;
  const { log } = options;
  const plain = createTransport({
    baseUrl: options.baseUrl,
    requestTimeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    clock,
    observe: options.observe,
  });
  const transport = withConditionalReads(plain);
  const octokits = createOctokits(options, transport, clock);
  const limits = createLimits(clock);
  const { turns = null, onRefused = async () => {}, onLacking = async () => {} } = options;
  const client = createClient({ octokits, transport, limits, turns, onRefused, clock, log });
  const carryOut = createCarryOut(clock);
  const as = ({ installationId }: RepositoryRef) => client.as(installationId);
  const identity = onceAnswered(() => reachable(() => readIdentity(client)));

  return {
    ...createReleasing(client, carryOut),
    identity,
    app: () => readApp(client, clock),
    webhook: () => readWebhook(client),
    installations: () => readInstallations(client),
    installation: (installationId) => readInstallation(client, installationId),
    repositories: (installationId) => readRepositories(client, installationId),
    account: (login, installationId) => reachable(() => readAccount(client, login, installationId)),
    repository: (ref) => readRepository(client, ref),
    deliveryLog: (cursor) => readDeliveryLog(client, cursor),
    deliveredPayload: (attemptId) => readDeliveredPayload(client, attemptId),
    inspect: (questions, options) => inspect(client, questions, options),
    checks: async (questions) =>
      (await askPullRequests(client, CHECKS, questions)).map((asked) => mapped(asked, toCheckDetails)),
    reviews: async (questions) =>
      (await askPullRequests(client, REVIEWS, questions)).map((asked) =>
        mapped(asked, (reviews) => reviews.map(toReview)),
      ),
    changedOnBothSides: async (repository, branchName, sha) => {
      const caller = client.as(repository.installationId, NAME_FILES_WITHIN_MS);
      const sides = [`${branchName}...${sha}`, `${sha}...${branchName}`] as const;
      return await changedOnBothSides(caller, repository.forgeId, sides).catch(nothingTold);
    },
    branchHead: (repository, branchName) =>
      reachable(() => readBranchHead(as(repository), repository, branchName)),
    createBranch: (repository, branchName, sha) =>
      permitted(() => createBranch(as(repository), carryOut, repository, branchName, sha)),
    openPullRequest: (repository, draft) =>
      permitted(() =>
        openPullRequest({ caller: as(repository), carryOut, onLacking, identity }, repository, draft),
      ),
    markReady: (repository, nodeId) => permitted(() => markReady(as(repository), carryOut, nodeId)),
    merge: (repository, order, waitMs) => {
      const caller = client.as(repository.installationId, Math.max(LOOK_WITHIN_MS, waitMs + MERGE_MARGIN_MS));
      const until = clock.now() + waitMs;
      return permitted(() =>
        mergePullRequest({ caller, carryOut, clock, onLacking, repository, order, until }),
      );
    },
    comment: (repository, order, waitMs) => {
      const caller = client.as(repository.installationId, waitMs);
      return permitted(() => comment({ caller, carryOut, clock, identity }, repository, order));
    },
    hasComment: (repository, commentId) => reachable(() => hasComment(as(repository), repository, commentId)),
    editComment: (repository, commentId, body, waitMs) => {
      const caller = client.as(repository.installationId, waitMs);
      return permitted(() => editComment({ caller, carryOut }, repository, commentId, body));
    },
  };
}

function mapped<T, U>(asked: Asked<T>, change: (value: T) => U): Asked<U> {
  return asked.ok ? { ok: true, value: change(asked.value) } : asked;
}

/** Asks once and keeps the answer; a failure is not kept. */
function onceAnswered<T>(ask: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= ask().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}
