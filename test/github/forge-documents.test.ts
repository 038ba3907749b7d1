import { expect, test } from "@jest/globals";
import { parse, validate } from "graphql";
import { CHECKS } from "../../src/forge/github/pull-requests/check-details.ts";
import { inspection, MORE_CHECKS } from "../../src/forge/github/pull-requests/inspect-query.ts";
import { LANDED } from "../../src/forge/github/branches/landed-history.ts";
import { ENQUEUE } from "../../src/forge/github/pull-requests/merge-pull-request.ts";
import { mergesDocument } from "../../src/forge/github/branches/pick-merges.ts";
import { PICK } from "../../src/forge/github/branches/pick-state.ts";
import { firstPages, furtherPage } from "../../src/forge/github/pull-requests/pull-request-lists.ts";
import { MARK_READY, READ_DRAFT_STATE } from "../../src/forge/github/pull-requests/pull-requests.ts";
import { REF, UPDATE_REFS } from "../../src/forge/github/branches/refs.ts";
import { documentOf } from "../../src/forge/github/repository-questions.ts";
import { REVIEWS } from "../../src/forge/github/pull-requests/conversation.ts";
import { createTagsDocument, TAGGING } from "../../src/forge/github/branches/tags.ts";
import { githubSchema } from "../../sandbox/forge/graphql/answer-graphql.ts";

const schema = githubSchema();
const repository = { installationId: 7, forgeId: 42, fullName: "acme/web" };
const both = { repository, branchName: "x", targetBranch: "main" };
const questions = [both, { ...both, targetBranch: null }, { ...both, branchName: null }];
const sha = "a".repeat(40);
const window = { repository, branchName: "main", since: "2026-01-01T00:00:00Z", cursor: null };
const pick = { branchName: "x", expectedTip: sha, pullRequests: [7, 9], tempBranch: "trunkline/tmp/x" };
const pulls = [1, 2].map((number) => ({ repository, number }));

test.each([
  ["marking ready", MARK_READY],
  ["reading the draft state", READ_DRAFT_STATE],
  ["joining the queue", ENQUEUE],
  ["further checks", MORE_CHECKS],
  ["inspecting", documentOf(inspection(), questions).document],
  ["an inspection with comments", documentOf(inspection({ includesConversation: true }), questions).document],
  ["checks", documentOf(firstPages(CHECKS), pulls).document],
  ["a further page of checks", furtherPage(CHECKS)],
  ["reviews", documentOf(firstPages(REVIEWS), pulls).document],
  ["further reviews", furtherPage(REVIEWS)],
  ["reading a ref", documentOf(REF, [{ repository, ref: "refs/tags/v1" }]).document],
  [
    "tagging",
    documentOf(
      TAGGING,
      [1, 2].map(() => ({ repository, branchName: "x", tagName: "v1" })),
    ).document,
  ],
  ["moving refs", UPDATE_REFS],
  ["several tags", createTagsDocument(2)],
  ["the history of a branch", documentOf(LANDED, [{ ...window, from: null }]).document],
  ["the history of a commit", documentOf(LANDED, [{ ...window, from: sha }]).document],
  ["a pick", documentOf(PICK, [{ repository, order: pick }]).document],
  ["the merges of a pick", mergesDocument(2, true)],
  ["more merges of a pick", mergesDocument(3, false)],
  ["inspecting a target alone", documentOf(inspection(), [{ ...both, branchName: null }]).document],
])("the document for %s is valid in GitHub's schema", (_, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([]);
});

test("every variable of an inspection is declared and has a value", () => {
  const { document, variables } = documentOf(inspection(), questions);
  const declared = [...document.matchAll(/\$(\w+): String!/g)].map(([, name]) => name);
  expect(new Set(declared)).toEqual(new Set(Object.keys(variables)));
});
