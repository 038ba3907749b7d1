/**
 * The parts of GitHub's webhooks that Trunkline reads. GitHub adds fields, and sends null for
 * deleted accounts, forks and commits
 * (https://docs.github.com/en/webhooks/webhook-events-and-payloads).
 */
import { z } from "zod";
import { account, isoTime, time } from "../account-shapes.ts";
import { name, text } from "../text-shapes.ts";

const accountIfAny = account.nullable().catch(null);

/** Something with an id that may be deleted, such as a fork. */
const referred = z.looseObject({ id: z.int() }).nullish().catch(null);

/** Common to all events. */
export const envelope = z.looseObject({
  action: z.string().optional().catch(undefined),
  installation: referred,
  repository: referred,
});

/** What an `edited` event changed. GitHub sends it also when nothing did, for a hidden comment. */
const from = z.looseObject({ from: z.string() }).nullish().catch(null);
const changes = z
  .looseObject({ body: from, base: z.looseObject({ ref: from }).nullish().catch(null) })
  .nullish()
  .catch(null);

export const authorization = envelope.extend({ sender: account });

const repositoryShape = z.looseObject({
  id: z.int(),
  full_name: name,
  default_branch: name.catch("main"),
});

export const fromRepository = envelope.extend({ repository: repositoryShape, sender: accountIfAny });

export const push = fromRepository.extend({
  repository: repositoryShape.extend({
    /** Seconds since 1970 in pushes, a string elsewhere. */
    pushed_at: z
      .union([z.number().transform((seconds) => seconds * 1_000), z.string()])
      .nullable()
      .catch(null)
      .transform(isoTime),
  }),
  ref: name,
  before: z.string(),
  after: z.string(),
  created: z.boolean().catch(false),
  deleted: z.boolean().catch(false),
  forced: z.boolean().catch(false),
  commits: z.array(z.looseObject({ id: z.string(), message: text })).catch([]),
});

export const repository = fromRepository.extend({
  changes: z.looseObject({ default_branch: z.unknown().optional() }).nullish().catch(null),
});

export const pullRequest = fromRepository.extend({
  reason: name.nullish().catch(null),
  changes,
  /** The heads before and after `synchronize`. */
  before: z.string().nullish().catch(null),
  after: z.string().nullish().catch(null),
  pull_request: z.looseObject({
    number: z.int32(),
    node_id: z.string(),
    title: name.nullish(),
    user: accountIfAny,
    state: z.string().nullish(),
    draft: z.boolean().nullish(),
    merged: z.boolean().nullish(),
    merged_by: accountIfAny,
    merge_commit_sha: z.string().nullish(),
    commits: z.int().nullish().catch(null),
    created_at: time,
    updated_at: time,
    closed_at: time,
    merged_at: time,
    head: z.looseObject({ ref: name, sha: z.string(), repo: referred }),
    base: z.looseObject({ ref: name }),
  }),
});

export const review = fromRepository.extend({
  changes,
  review: z.looseObject({
    id: z.int(),
    state: z.string(),
    body: text.nullish().catch(null),
    user: accountIfAny.optional(),
    submitted_at: time,
    updated_at: time,
  }),
  pull_request: z.looseObject({
    number: z.int32(),
    updated_at: time,
    head: z.looseObject({ ref: name, repo: referred }).nullish().catch(null),
  }),
});

export const reviewThread = fromRepository.extend({
  updated_at: time,
  pull_request: z.looseObject({ number: z.int32(), updated_at: time }),
});

export const issueComment = fromRepository.extend({
  changes,
  issue: z.looseObject({ number: z.int32(), pull_request: z.looseObject({}).nullish() }),
  comment: z.looseObject({
    id: z.int(),
    body: text.nullish(),
    user: accountIfAny,
    created_at: time,
    updated_at: time,
  }),
});

export const checkRun = fromRepository.extend({
  check_run: z.looseObject({
    id: z.int(),
    name,
    head_sha: z.string(),
    status: z.string(),
    conclusion: z.string().nullish(),
    started_at: time,
    completed_at: time,
    app: referred,
    check_suite: z
      .looseObject({ id: z.int().nullish().catch(null), head_branch: name.nullish() })
      .nullish()
      .catch(null),
    pull_requests: z.array(z.looseObject({ head: z.looseObject({ ref: name, repo: referred }) })).catch([]),
  }),
});

export const checkSuite = fromRepository.extend({
  check_suite: z.looseObject({
    id: z.int(),
    head_sha: z.string(),
    head_branch: name.nullish(),
    status: z.string().nullish(),
    conclusion: z.string().nullish(),
    updated_at: time,
    latest_check_runs_count: z.int().nullish().catch(null),
    app: z.looseObject({ id: z.int(), name: name.nullish() }).nullish().catch(null),
    pull_requests: z.array(z.looseObject({ head: z.looseObject({ ref: name, repo: referred }) })).catch([]),
  }),
});

export const status = fromRepository.extend({
  id: z.int(),
  sha: z.string(),
  context: name,
  state: z.string(),
  created_at: time,
  updated_at: time,
  branches: z.array(z.looseObject({ name })).catch([]),
});
