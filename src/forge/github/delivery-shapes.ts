/**
 * The parts of GitHub's webhooks that are read, checked loosely: GitHub adds fields over time, and sends null where an
 * account, a fork or a commit is gone (https://docs.github.com/en/webhooks/webhook-events-and-payloads).
 */
import { z } from "zod";

export const account = z
  .looseObject({
    id: z.int(),
    login: z.string(),
    avatar_url: z.string().nullish(),
    type: z.string().nullish(),
  })
  .nullish()
  .catch(null);

export type DeliveredAccount = z.infer<typeof account>;

/** What is around every event. */
export const envelope = z.looseObject({
  action: z.string().optional().catch(undefined),
  installation: z.looseObject({ id: z.int() }).nullish().catch(null),
  repository: z.looseObject({ id: z.int() }).nullish().catch(null),
});

export const fromRepository = z.looseObject({
  action: z.string().optional().catch(undefined),
  repository: z.looseObject({
    id: z.int(),
    full_name: z.string(),
    default_branch: z.string().catch("main"),
  }),
  installation: z.looseObject({ id: z.int() }).nullish().catch(null),
  sender: account,
});

export const push = fromRepository.extend({
  ref: z.string(),
  before: z.string(),
  after: z.string(),
  created: z.boolean().catch(false),
  deleted: z.boolean().catch(false),
  forced: z.boolean().catch(false),
  commits: z.array(z.looseObject({ id: z.string(), message: z.string() })).catch([]),
});

export const repository = fromRepository.extend({
  changes: z.looseObject({ default_branch: z.unknown().optional() }).nullish().catch(null),
});

const repositoryId = z.looseObject({ id: z.int() }).nullish().catch(null);

export const pullRequest = fromRepository.extend({
  reason: z.string().nullish().catch(null),
  changes: z.looseObject({ base: z.unknown().optional() }).nullish().catch(null),
  pull_request: z.looseObject({
    number: z.int32(),
    node_id: z.string(),
    title: z.string().nullish(),
    user: account,
    state: z.string().nullish(),
    draft: z.boolean().nullish(),
    merged: z.boolean().nullish(),
    merged_by: account,
    merge_commit_sha: z.string().nullish(),
    created_at: z.string().nullish(),
    updated_at: z.string().nullish(),
    closed_at: z.string().nullish(),
    merged_at: z.string().nullish(),
    head: z.looseObject({ ref: z.string(), sha: z.string(), repo: repositoryId }),
    base: z.looseObject({ ref: z.string() }),
  }),
});

export const review = fromRepository.extend({
  review: z.looseObject({
    id: z.int(),
    state: z.string(),
    body: z.string().nullish().catch(null),
    submitted_at: z.string().nullish(),
    updated_at: z.string().nullish(),
    user: account,
  }),
  pull_request: z.looseObject({
    number: z.int32(),
    updated_at: z.string().nullish(),
    head: z.looseObject({ ref: z.string(), repo: repositoryId }).nullish().catch(null),
  }),
});

export const reviewState = z.enum(["approved", "changes_requested", "commented", "dismissed", "pending"]);

export const issueComment = fromRepository.extend({
  issue: z.looseObject({ number: z.int32(), pull_request: z.looseObject({}).nullish() }),
  comment: z.looseObject({
    id: z.int(),
    body: z.string().nullish(),
    user: account,
    created_at: z.string().nullish(),
    updated_at: z.string().nullish(),
  }),
});

export const checkRun = fromRepository.extend({
  check_run: z.looseObject({
    id: z.int(),
    name: z.string(),
    head_sha: z.string(),
    status: z.string(),
    conclusion: z.string().nullish(),
    started_at: z.string().nullish(),
    completed_at: z.string().nullish(),
    app: z.looseObject({ id: z.int() }).nullish().catch(null),
    check_suite: z.looseObject({ head_branch: z.string().nullish() }).nullish().catch(null),
    pull_requests: z
      .array(z.looseObject({ head: z.looseObject({ ref: z.string(), repo: repositoryId }) }))
      .catch([]),
  }),
});

export const status = fromRepository.extend({
  id: z.int(),
  sha: z.string(),
  context: z.string(),
  state: z.string(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  branches: z.array(z.looseObject({ name: z.string() })).catch([]),
});
