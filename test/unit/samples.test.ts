import { describe, expect, it } from "@jest/globals";
import { idFieldsOf } from "../support/input-fields.ts";
import { sampleCalls } from "../support/routes.ts";
import { samples } from "../support/samples.ts";

describe("the routes of /v1", () => {
  // If this fails, add a call of the route to test/support/samples.ts.
  it("have one sample call each, and no other samples exist", () => {
    expect(Object.keys(samples).toSorted()).toEqual(sampleCalls.map(({ name }) => name).toSorted());
  });

  it("mark ids and card numbers in the OpenAPI document", () => {
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
