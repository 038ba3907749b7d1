import { describe, expect, it } from "@jest/globals";
import type { TimelineEvent } from "../support/api.ts";
import { type SubmittedReview, duplicateEvents } from "../support/stories/duplicate-events.ts";

const AT = "2026-11-20T12:00:38.000Z";
const review: SubmittedReview = {
  repositoryFullName: "acme/web",
  prNumber: 1,
  login: "ada",
  state: "approved",
  at: "2026-11-20T12:00:38Z",
};

const event = (kind: string, data: Record<string, unknown>, login: string | null = "ada"): TimelineEvent => ({
  type: "event",
  id: "",
  kind,
  actor: { user: { name: "Ada", kind: "person" }, login },
  repositoryFullName: "acme/web",
  data: { prNumber: 1, ...data },
  at: AT,
  author: { login: null },
});
const reviewed = (state: string, login?: string): TimelineEvent =>
  event("review_submitted", { state }, login);

// Invariant: I5
describe("a timeline", () => {
  it.each<[string, readonly TimelineEvent[], readonly SubmittedReview[]]>([
    ["two approvals in one second", [reviewed("approved"), reviewed("approved")], [review, review]],
    [
      "two comments in one second",
      [reviewed("commented"), reviewed("commented")],
      [
        { ...review, state: "commented" },
        { ...review, state: "commented" },
      ],
    ],
    [
      "two approvals that were dismissed at the same time",
      [
        reviewed("approved"),
        reviewed("approved"),
        reviewed("dismissed", "grace"),
        reviewed("dismissed", "grace"),
      ],
      [
        { ...review, state: "dismissed" },
        { ...review, state: "dismissed" },
      ],
    ],
    ["a review that was deleted on GitHub", [reviewed("approved")], []],
    ["two people's reviews", [reviewed("approved"), reviewed("approved", "grace")], []],
  ])("may have %s", (_, timeline, reviews) => {
    expect(duplicateEvents(timeline, "trunkline[bot]", reviews)).toEqual([]);
  });

  it.each<[string, readonly TimelineEvent[], readonly SubmittedReview[]]>([
    ["one approval", [reviewed("approved"), reviewed("approved")], [review]],
    ["one comment", [reviewed("commented"), reviewed("commented")], [{ ...review, state: "commented" }]],
    [
      "two approvals, three times",
      [reviewed("approved"), reviewed("approved"), reviewed("approved")],
      [review, review],
    ],
    [
      "an approval next to one with another state, user, pull request, repository or time",
      [reviewed("approved"), reviewed("approved")],
      [
        review,
        { ...review, state: "commented" },
        { ...review, login: "grace" },
        { ...review, prNumber: 2 },
        { ...review, repositoryFullName: "acme/api" },
        { ...review, at: "2026-11-20T12:00:39Z" },
      ],
    ],
    ["one dismissal", [reviewed("dismissed"), reviewed("dismissed")], [{ ...review, state: "dismissed" }]],
    ["one push", [event("pushed", {}), event("pushed", {})], [review, review]],
  ])("with duplicates of %s is reported", (_, timeline, reviews) => {
    expect(duplicateEvents(timeline, "trunkline[bot]", reviews)).toHaveLength(1);
  });
});
