/** The GraphQL API that Trunkline uses, and what a server lacks of it. */
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, parse, validate } from "graphql";
import { z } from "zod";
import { LANDED, PULLS_OF_COMMIT } from "./branches/landed-history.ts";
import { mergesDocument } from "./branches/pick-merges.ts";
import { OLDER_COMMITS, PICK } from "./branches/pick-state.ts";
import { IN_THE_WAY, REF, UPDATE_REFS } from "./branches/refs.ts";
import { createTagsDocument, TAG_LIST, TAGGING } from "./branches/tags.ts";
import type { GitHubClient } from "./calls/client.ts";
import { GraphqlMissing } from "./calls/failures.ts";
import { graphqlData } from "./calls/graphql-response.ts";
import { CHECKS } from "./pull-requests/check-details.ts";
import { REVIEWS } from "./pull-requests/conversation.ts";
import { inspection, MORE_CHECKS } from "./pull-requests/inspect-query.ts";
import { ENQUEUE } from "./pull-requests/merge-pull-request.ts";
import { firstPages, furtherPage } from "./pull-requests/pull-request-lists.ts";
import { MARK_READY, READ_DRAFT_STATE } from "./pull-requests/pull-requests.ts";
import { valueOf } from "./repositories.ts";
import { documentOf } from "./repository-questions.ts";

const repository = { installationId: 0, forgeId: 0, fullName: "owner/name" };
const branch = { repository, branchName: "branch", targetBranch: "target" };
const branches = [branch, { ...branch, targetBranch: null }, { ...branch, branchName: null }];
const sha = "0".repeat(40);
const window = { repository, branchName: "branch", since: "2026-01-01T00:00:00Z", cursor: null };
const pick = { branchName: "branch", expectedTip: sha, pullRequests: [1, 2], tempBranch: "trunkline/tmp/x" };
const pulls = [1, 2].map((number) => ({ repository, number }));
const tags = [1, 2].map(() => ({ repository, branchName: "branch", tagName: "v1" }));

/** Every document that is sent to GitHub, by what it is for. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  "marking ready": MARK_READY,
  "reading the draft state": READ_DRAFT_STATE,
  "joining the queue": ENQUEUE,
  inspecting: documentOf(inspection(), branches).document,
  "inspecting with the conversation": documentOf(inspection({ includesConversation: true }), branches)
    .document,
  "inspecting with the commits": documentOf(inspection({ includesCommits: true }), branches).document,
  "inspecting with the rules": documentOf(inspection({ includesRules: true }), branches).document,
  "inspecting a target alone": documentOf(inspection(), [{ ...branch, branchName: null }]).document,
  "further checks of an inspection": MORE_CHECKS,
  checks: documentOf(firstPages(CHECKS), pulls).document,
  "further checks": furtherPage(CHECKS),
  reviews: documentOf(firstPages(REVIEWS), pulls).document,
  "further reviews": furtherPage(REVIEWS),
  "reading a ref": documentOf(REF, [{ repository, ref: "refs/tags/v1" }]).document,
  "a ref in the way": documentOf(IN_THE_WAY, [{ repository, ref: "refs/heads/release/1/rc" }]).document,
  "reading tags": documentOf(TAGGING, tags).document,
  "listing tags": documentOf(TAG_LIST, [{ repository, cursor: null }]).document,
  "moving refs": UPDATE_REFS,
  "creating tags": createTagsDocument(2),
  "the history from a branch": documentOf(LANDED, [{ ...window, from: null }]).document,
  "the history from a commit": documentOf(LANDED, [{ ...window, from: sha }]).document,
  "the pull requests of a commit": documentOf(PULLS_OF_COMMIT, [{ repository, oid: sha, cursor: null }])
    .document,
  "a pick": documentOf(PICK, [{ repository, order: pick }]).document,
  "older commits of a pick": documentOf(OLDER_COMMITS, [{ repository, tip: sha, cursor: "next" }]).document,
  "the merges of a pick": mergesDocument(2, true),
  "more merges of a pick": mergesDocument(3, false),
};

const introspectionShape = z.custom<IntrospectionQuery>(
  (data) => typeof data === "object" && data !== null && "__schema" in data,
);

/**
 * What the server's GraphQL schema lacks, as messages such as `Cannot query field "isInMergeQueue"
 * on type "PullRequest".`; null when there is no GraphQL API. The schema depends on the version of
 * the Enterprise Server.
 */
export async function listGraphqlGaps(
  client: GitHubClient,
  installationId: number,
): Promise<readonly string[] | null> {
  try {
    const query = getIntrospectionQuery({ descriptions: false }).trim();
    const response = await client.as(installationId).query(query, {});
    const schema = buildClientSchema(valueOf(graphqlData(introspectionShape, response)));
    const gaps = Object.values(DOCUMENTS).flatMap((text) => validate(schema, parse(text)));
    return [...new Set(gaps.map(({ message }) => message))];
  } catch (error) {
    if (error instanceof GraphqlMissing) return null;
    throw error;
  }
}
