import { z } from "zod";
import { who } from "./actor.ts";
import { contextsShape } from "./checks-summary.ts";
import { saidOnShape } from "./said.ts";

const tip = z.looseObject({ name: z.string(), target: z.looseObject({ oid: z.string() }).nullable() });
const newestShape = z
  .looseObject({
    committedDate: z.string().nullish(),
    author: z
      .looseObject({
        email: z.string().nullish(),
        user: z.looseObject({ databaseId: z.number().nullish() }).nullish(),
      })
      .nullish(),
  })
  .nullish()
  .catch(null);
const head = tip.extend({ newest: newestShape });
const target = tip.extend({ compare: z.looseObject({ aheadBy: z.number() }).nullish() });

const pull = z.looseObject({
  id: z.string(),
  number: z.number(),
  state: z.enum(["OPEN", "CLOSED", "MERGED"]),
  isDraft: z.boolean(),
  baseRefName: z.string(),
  headRefName: z.string(),
  headRefOid: z.string(),
  headRepository: z.looseObject({ databaseId: z.number().nullable() }).nullable(),
  mergeable: z.enum(["MERGEABLE", "CONFLICTING", "UNKNOWN"]).catch("UNKNOWN"),
  reviewDecision: z.enum(["APPROVED", "CHANGES_REQUESTED", "REVIEW_REQUIRED"]).nullish(),
  isInMergeQueue: z.boolean().nullish(),
  title: z.string().catch(""),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
  closedAt: z.string().nullish(),
  mergedAt: z.string().nullish(),
  author: who,
  mergedBy: who,
  mergeCommit: z.looseObject({ oid: z.string() }).nullish(),
  statusCheckRollup: z.looseObject({ contexts: contextsShape }).nullish(),
});

export const repositoryAnswer = z.looseObject({
  databaseId: z.number(),
  nameWithOwner: z.string(),
  isArchived: z.boolean().nullish(),
  defaultBranchRef: z.looseObject({ name: z.string() }).nullable(),
  target: target.nullish(),
  head: head.nullish(),
  pullRequests: z.looseObject({ nodes: z.array(pull.nullable()).nullable() }).nullish(),
  lastChanged: z.looseObject({ nodes: z.array(saidOnShape.nullable()).nullable() }).nullish(),
});

export const moreChecksAnswer = z.looseObject({
  node: z.looseObject({ statusCheckRollup: z.looseObject({ contexts: contextsShape }).nullish() }).nullish(),
});

export type RepositoryAnswer = z.infer<typeof repositoryAnswer>;
export type NewestAnswer = z.infer<typeof newestShape>;
export type PullAnswer = z.infer<typeof pull>;
