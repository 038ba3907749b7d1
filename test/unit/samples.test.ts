import { describe, expect, it } from "@jest/globals";
import { idFieldsOf } from "../support/input-fields.ts";
import { sampleCalls } from "../support/routes.ts";
import { samples } from "../support/samples.ts";

describe("the routes of /v1", () => {
  // A route that fails here needs a call in test/support/samples.ts: the tests of all routes are made with it.
  it("have a sample call each, and there is none for a route that is gone", () => {
    expect(Object.keys(samples).toSorted()).toEqual(sampleCalls.map(({ name }) => name).toSorted());
  });

  it("show in the document where they take an id or a card's number", () => {
    expect(idFieldsOf("GET /v1/me")).toEqual([]);
    expect(idFieldsOf("PATCH /v1/cards/{number}/comments/{commentId}")).toEqual([
      "path.number",
      "path.commentId",
      "header.X-Service-Workspace",
    ]);
    expect(idFieldsOf("PUT /v1/projects/{projectId}/flow")).toContain("body.stages.*.id");
    expect(idFieldsOf("PATCH /v1/cards/{number}")).toEqual(
      expect.arrayContaining(["body.labelIds.*", "body.featureId", "body.parentNumber"]),
    );
    expect(idFieldsOf("PUT /v1/releases/{id}/cards")).toContain("body.taskNumbers.*");
  });
});
